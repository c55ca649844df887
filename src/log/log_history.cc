// Recoveries, repairs and checks share this judge. Pieces are taken up as they come, put in order once, and judged from
// the first to the last; the header has the rules by name.

#include "src/log/log_history.h"

#include <algorithm>
#include <tuple>

#include "src/log/file_log.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

// A chunk's order is its first write; an empty one comes first of all, and has nothing to judge.
const LogPiece& LogHistory::AddChunk(const LogChunkPlace& place, const char* base, uint64_t secret) {
  CHECK(state_ == State::kOpen);
  CHECK(rules_.policy != LogPolicy::kRecoverVolatile);
  pieces_.push_back(ReadLogChunk(place, base, secret, rules_.pool_path.empty() ? "" : rules_.pool_path + ": "));
  pieces_.back().order = pieces_.back().first_sequence;
  return pieces_.back();
}

void LogHistory::AddIndexedChunk(const LogChunkPlace& place, const ChunkIndex& index) {
  CHECK(state_ == State::kOpen);
  CHECK(rules_.policy == LogPolicy::kRecover);
  LogPiece& piece = pieces_.emplace_back();
  piece.name = (rules_.pool_path.empty() ? "" : rules_.pool_path + ": ") + ChunkName(place);
  piece.place = place;
  piece.index = index;
  piece.valid_bytes = index.frame_bytes;
  piece.first_sequence = piece.order = index.first_sequence;
  piece.last_sequence = index.last_sequence();
  piece.writes = index.count;
  DCHECK(piece.first_sequence > 0 && piece.first_sequence <= piece.last_sequence);
  DCHECK_LE(piece.valid_bytes, place.frame_limit());
}

// The id of its chunk alone is known of the place: of two frames that begin with the same write the later chunk's
// counts.
void LogHistory::AddFrame(const std::string& name, const FrameView& frame, uint64_t chunk_id) {
  CHECK(state_ == State::kOpen);
  CHECK(rules_.policy == LogPolicy::kRepair);
  LogPiece& piece = pieces_.emplace_back();
  piece.kind = LogPiece::Kind::kFrame;
  piece.name = name;
  piece.place.id = chunk_id;
  piece.AddFrame(frame);
  piece.order = piece.first_sequence;
}

// Files are only listed here. They are read by Judge, which knows what is in tables.
Status LogHistory::AddFiles(Env* env, const std::string& folder, std::optional<uint64_t> log_id) {
  CHECK(state_ == State::kOpen);
  CHECK(folder_.empty());
  if (folder.empty()) return Status::OK();
  env_ = env;
  folder_ = folder;
  // Another log's files are not even listed: their sequences would be taken for this one's.
  bool ours = true;
  Status s = log_id.has_value() ? FileLog::IsOwnedBy(env, folder, *log_id, &ours) : Status::OK();
  if (!ours && s.ok()) report_({folder, "does not hold the log of this database (no WAL_OWNER with its id)"});
  std::vector<LogFile> files;
  if (ours && s.ok()) s = FileLog::List(env, folder, &files);
  if (!s.ok()) return Unreadable(folder, s);
  files_ = files.size();
  for (const LogFile& file : files) {
    LogPiece& piece = pieces_.emplace_back();
    piece.kind = LogPiece::Kind::kFile;
    piece.file = file;
    piece.name = Recovers() ? folder + ": log file " + file.name() : folder + "/" + file.name();
  }
  return s;
}

// A file without writes that are not flushed belongs behind those before it. Files are listed by rising number, which
// is the order in which they were written. If the policy goes on, a file that cannot be read is left as it was, unread.
Status LogHistory::ReadFiles() {
  uint64_t before = flushed_sequence_;  // the last sequence before the file
  for (LogPiece& piece : pieces_) {
    if (!piece.in_file()) continue;
    const LogPiece unread = piece;  // a read that fails may have filled in a part
    Status s = ReadLogFile(env_, folder_, flushed_sequence_, nullptr, &piece);
    if (!s.ok()) {
      piece = unread;
      s = Unreadable(piece.name, s);
      if (!s.ok()) return s;
    }
    DCHECK(piece.empty() || piece.last_sequence > flushed_sequence_);
    piece.order = piece.empty() ? before + 1 : piece.first_sequence;
    before = std::max(before, piece.last_sequence);
  }
  return Status::OK();
}

// The sort is by the write that a piece begins with. Among pieces that begin with the same one, those with writes come
// before those without, files before chunks, and chunks by falling id: the first is the one that counts, and those
// behind it do not follow.
Status LogHistory::Judge(uint64_t flushed_sequence, uint64_t reach) {
  CHECK(state_ == State::kOpen);
  state_ = State::kGoesOn;
  flushed_sequence_ = last_sequence_ = flushed_sequence;
  Status s = ReadFiles();
  const auto key = [](const LogPiece& p) { return std::make_tuple(p.order, p.empty(), !p.in_file(), ~p.place.id); };
  std::stable_sort(pieces_.begin(), pieces_.end(),
                   [&](const LogPiece& a, const LogPiece& b) { return key(a) < key(b); });
  for (LogPiece& piece : pieces_) {
    if (s.ok()) s = JudgePiece(&piece);
  }
  CHECK_GE(last_sequence_, flushed_sequence);
  // Table files of a volatile pool hold writes up to reach. A log that ends before would be replayed under them, and
  // give their sequences out again.
  if (!s.ok() || last_sequence_ >= reach) return s;
  return Damage(folder_.empty() ? "log" : folder_,
                rules_.policy == LogPolicy::kRepair
                    ? "writes " + std::to_string(last_sequence_ + 1) + " to " + std::to_string(reach) +
                          " are missing, but for those that are in table files"
                    : "the log ends with write " + std::to_string(last_sequence_) + "; it went on to " +
                          std::to_string(reach) + " when files on SSD were made");
}

// Never at a sealed chunk: a recovery has shown its writes to readers. Never in a repair, which takes what there is.
bool LogHistory::MayEndAt(const LogPiece& piece) const {
  DCHECK(!piece.in_file() || !piece.place.sealed);
  const LogHoles holes = piece.in_file() ? rules_.in_files : rules_.in_chunks;
  return rules_.policy != LogPolicy::kRepair && holes == LogHoles::kEndTheLog && !piece.place.sealed;
}

// Whether the holes of a piece are those that writers beside one another leave: nothing behind the first one was stored
// after what is missing there had become durable.
bool LogHistory::WereBesideTheHole(const LogPiece& piece) const {
  if (rules_.policy == LogPolicy::kRepair || piece.kind != LogPiece::Kind::kChunk || piece.place.sealed) return false;
  if (!piece.damaged() || !piece.in_order || state_ != State::kGoesOn) return false;
  DCHECK_LT(piece.whole_frames, piece.frames.size());
  const auto behind = piece.frames.begin() + static_cast<ptrdiff_t>(piece.whole_frames);
  const uint64_t found = piece.whole_frames > 0 ? (behind - 1)->last_sequence() : last_sequence_;
  return MIODB_MUTATED(kFrameAheadUnseen) || std::none_of(behind, piece.frames.end(), [&](const FrameView& frame) {
           return frame.durable_before() > found;
         });
}

// A recovery ends at the first damage; the others tell of it and go on.
Status LogHistory::Damage(const std::string& place, const std::string& reason) const {
  DCHECK(!reason.empty());
  if (Recovers()) return Status::Corruption(place, reason);
  report_({place, reason});
  return Status::OK();
}

// A read that the file system refuses is no damage: a recovery or a repair that went on without these bytes could lose
// writes.
Status LogHistory::Unreadable(const std::string& place, const Status& s) const {
  DCHECK(!s.ok());
  if (rules_.policy != LogPolicy::kVerify) return s;
  report_({place, s.ToString()});
  return Status::OK();
}

// In this order: holes inside of the piece, whether its writes are replaced by others, the gap before it, records that
// this version does not know. A piece behind the end of the log is judged as well, so that damage is told, and dropped.
Status LogHistory::JudgePiece(LogPiece* piece) {
  DCHECK(piece->verdict == LogVerdict::kDrop);
  const bool ends_inside = piece->damaged() && (MayEndAt(*piece) || WereBesideTheHole(*piece));
  if (ends_inside) piece->CutAtHole();
  Status s;
  for (const Problem& hole : piece->holes) {
    if (s.ok() && !ends_inside) s = Damage(hole.place, hole.reason);
  }
  if (piece->kind == LogPiece::Kind::kFrame && piece->first_sequence <= last_sequence_) {
    report_({piece->name, "left out: its writes were replaced by other ones"});
    return s;
  }
  if (s.ok() && !piece->empty()) s = JudgeGap(*piece);
  if (!s.ok()) return s;
  // JudgeGap may have ended the log just now, and then this piece lies behind the end.
  const bool goes_on = state_ == State::kGoesOn;
  for (const FrameView& frame : piece->frames) {
    if (s.ok() && goes_on && frame.has_unknown_type) {
      s = Damage(piece->NameOf(frame), kUnknownValueType);
    }
  }
  if (s.ok() && goes_on && piece->has_unknown_batch) s = Damage(piece->End(), kUnknownBatch);
  if (goes_on && !piece->empty()) {
    piece->verdict = LogVerdict::kReplay;
    last_sequence_ = std::max(last_sequence_, piece->last_sequence);
    writes_ += piece->writes;
  } else if (goes_on && piece->in_file() && piece->last_sequence != 0) {
    piece->verdict = LogVerdict::kKeep;
  }
  if (ends_inside) state_ = State::kEnded;
  if (Recovers() && (ends_inside || (!goes_on && !piece->empty()))) {
    report_({piece->End(), "what follows after write " + std::to_string(last_sequence_) +
                               " is left out: something is missing in between"});
  }
  return s;
}

// Whether a piece with writes follows those before it. A repair accepts an overlap: what it finds may be of several
// lives of the log.
Status LogHistory::JudgeGap(const LogPiece& piece) {
  DCHECK(!piece.empty());
  const uint64_t next = piece.first_sequence;
  const bool repairs = rules_.policy == LogPolicy::kRepair;
  if (state_ == State::kGoesOn && (next == last_sequence_ + 1 || (repairs && next <= last_sequence_))) {
    return Status::OK();
  }
  // Unsynced pieces may be lost in any order, so what lies behind the first gap is worth nothing.
  if (MayEndAt(piece)) {
    if (!(piece.in_file() && MIODB_MUTATED(kLogFileGapUnseen))) state_ = State::kEnded;
    return Status::OK();
  }
  return Damage(piece.name, repairs ? TextOfGap(last_sequence_, next)
                                    : "writes after " + std::to_string(last_sequence_) + " are missing, the next is " +
                                          std::to_string(next));
}

// Memory for all batches of a log is never needed: they were read once to be judged, and are read again one by one. The
// file may have changed in between only if somebody else writes into the folder, and then the replay ends.
Status LogHistory::ForEachBatch(const LogPiece& piece, const VisitBatch& visit) const {
  CHECK(state_ != State::kOpen);
  CHECK(piece.in_file() && piece.replayed());
  LogPiece again;
  again.file = piece.file;
  const auto changed = [&] { return Status::Corruption(piece.name, "does not hold what it did a moment ago"); };
  Status s = ReadLogFile(
      env_, folder_, flushed_sequence_,
      [&](const Slice& batch) {
        const bool same = again.first_sequence == piece.first_sequence && again.last_sequence <= piece.last_sequence;
        return same ? visit(batch) : changed();
      },
      &again);
  return s.ok() && again.last_sequence != piece.last_sequence ? changed() : s;
}

}  // namespace miodb
