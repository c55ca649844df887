#include "tests/simulation/explorer.h"

#include <algorithm>

#include "miodb/write_batch.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/mutation.h"
#include "tests/simulation/beside.h"
#include "tests/simulation/db_peer.h"

namespace miodb::sim {

namespace {

// Threads of the engine as the medium tells them apart.
constexpr int kWriterThread = 0;

// Memory is compared with what went through the door after one image in so many.
constexpr uint64_t kStrayCheckInterval = 32;

// Images opened with as few levels as can be.
constexpr uint64_t kFewLevelsOneIn = 5;

// The family that comes and goes.
constexpr char kEmptyFamily[] = "empty";

// Lines named in a report.
constexpr size_t kLinesShown = 6;

// Makes the column family first, if one of the keys is the first of it.
Status MakeBatch(DB* db, const Oracle& oracle, const std::vector<Update>& updates, WriteBatch* batch) {
  ColumnFamilyHandle* family = nullptr;
  for (const Update& update : updates) {
    if (family != nullptr || !oracle.InFamily(update.key)) continue;
    Status s = db->GetColumnFamily(Oracle::kFamily, &family);
    if (s.IsNotFound()) s = db->CreateColumnFamily(Oracle::kFamily, &family);
    if (!s.ok()) return s;
  }
  for (const Update& update : updates) {
    const std::string& key = Oracle::KeyText(update.key);
    ColumnFamilyHandle* const to = oracle.InFamily(update.key) ? family : nullptr;
    switch (update.kind) {
      case Update::Kind::kPut:
      case Update::Kind::kPutForMoment:
      case Update::Kind::kPutForAges:
        batch->Put(to, key, update.value);
        break;
      case Update::Kind::kDelete:
        batch->Delete(to, key);
        break;
      case Update::Kind::kMerge:
        batch->Merge(to, key, update.value);
        break;
      case Update::Kind::kSingleDelete:
        batch->SingleDelete(to, key);
        break;
      case Update::Kind::kDeleteRange:
        batch->DeleteRange(key, update.value);
        break;
    }
  }
  return Status::OK();
}

}  // namespace

Explorer::Explorer(const Settings& settings) : settings_(settings) {
  for (int depth = 0; depth <= kMaxDepth; depth++) {
    media_[depth] = std::make_unique<SimMedium>(settings.mode, kMediumBytes);
    media_[depth]->set_fault(settings.fault);
    uint64_t* const state = &random_state_[depth];
    media_[depth]->memory()->random = [state] { return *state = Mix64(*state, 1); };
  }
  media_[0]->set_watch([this](int site, SiteKind kind, Purpose purpose) {
    if (kind != SiteKind::kCopy) return;
    if (purpose == Purpose::kFlush) totals_.flushes++;
    if (purpose == Purpose::kMerge) totals_.merges++;
    if (purpose == Purpose::kLazyCopy) totals_.lazy_copies++;
    if (purpose == Purpose::kEvacuation) totals_.evacuations++;
    if (purpose == Purpose::kManifest && Sites::Name(site).starts_with("PoolHead::SwitchRoot")) totals_.rollovers++;
  });
}

Explorer::~Explorer() = default;

void Explorer::Fail(const std::string& what) {
  if (failure_.empty()) failure_ = place_ + ": " + what;
}

// ---- The history

bool Explorer::Run(const Config& config, const History& history, size_t first_explored) {
  config_ = config;
  options_ = config.options;
  options_.env = &env_;
  options_.info_log = &logger_;
  options_.persist_mode = kPersistAuto;
  if (!settings_.merge_policy.empty()) options_.merge_policy = settings_.merge_policy;
  totals_.histories++;
  exploring_ = false;
  Begin();
  for (size_t i = 0; i < history.size() && !Done(); i++) {
    exploring_ = i >= first_explored;
    place_ = "operation " + std::to_string(i) + " (" + ToText(history[i]) + ")";
    Do(history[i]);
    if (!Done()) CheckLive();
  }
  for (const Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
  snapshots_.clear();
  exploring_ = false;
  db_.reset();
  totals_.flush_shares = media_[0]->shares(Purpose::kFlush);
  totals_.merge_shares = media_[0]->shares(Purpose::kMerge) + media_[0]->shares(Purpose::kLazyCopy);
  return failure_.empty();
}

// A write that a reader could see counts as acknowledged, so no write may be visible before it is durable. With the log
// off a killed process loses what loss of power does: whatever was not flushed.
Explorer::Range Explorer::LiveRange() const {
  Range range{oracle_->promised(), oracle_->promised(), oracle_->started()};
  if (log_off()) return range;
  range.kill = oracle_->acknowledged();
  if (db_ != nullptr) range.kill = std::max(range.kill, DBPeer::LastSequence(db_.get()));
  if (settings_.mode != Mode::kFile) range.low = std::max(range.low, range.kill);
  return range;
}

void Explorer::Begin() {
  media_[0]->set_crash_point(nullptr);
  media_[0]->Reset(config_.initial_bytes);
  for (auto& medium : media_) medium->memory()->split = config_.split;
  random_state_[0] = config_.seed;
  oracles_.clear();
  const int end_family_key = config_.first_single_key();
  oracles_.push_back(std::make_unique<Oracle>(config_.keys, config_.first_family_key(), end_family_key));
  oracle_ = oracles_.back().get();
  place_ = "creating the database";
  OpenLive(false);
  media_[0]->set_crash_point([this](int site, SiteKind kind) {
    if (exploring_ && !Done()) Crash(0, site, kind, *oracle_, LiveRange());
  });
}

Status Explorer::Open(int depth, std::unique_ptr<DBImpl>* db) {
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  hooks.memory = media_[depth]->memory();
  hooks.wall_micros = &NextDate;
  Options options = options_;
  // Some recoveries use fewer levels than the database has, which takes an edit of its own.
  if (depth > 0 && random_state_[depth] % kFewLevelsOneIn == 0) options.num_levels = 2;
  return DBImpl::Open(options, kDatabaseName, hooks, db);
}

bool Explorer::OpenLive(bool exists) {
  env_.set_pool_exists(exists);
  const Status s = Open(0, &db_);
  env_.set_pool_exists(true);
  if (!s.ok()) Fail("open: " + s.ToString());
  if (s.ok() && exists && MIODB_MUTATED(kLogAppendAfterOpen)) DBPeer::AppendToRecoveredLog(db_.get());
  return s.ok();
}

void Explorer::Step(DBImpl::Step step) {
  media_[0]->set_thread(1 + static_cast<int>(step));
  db_->RunStep(step);
  media_[0]->set_thread(kWriterThread);
}

void Explorer::Do(const Op& op) {
  Status s;
  switch (op.kind) {
    case 'P':
      return Step(DBImpl::Step::kPrepare);
    case 'F':
      return Step(DBImpl::Step::kFlush);
    case 'M':
      return Step(DBImpl::Step::kMerge);
    case 'e':
      if (DBPeer::MarkOneExtent(db_.get())) Step(DBImpl::Step::kMerge);
      return;
    case 'f':
      s = db_->Flush();
      if (s.ok()) oracle_->PromiseAll();
      if (!s.ok() && !s.IsNoSpace()) Fail("flush: " + s.ToString());
      return;
    case 'a':
      AddRegion();
      return;
    case 'n':
      return MakeOrDropFamily();
    case 'q':
      return MakeOrDropSavepoint(op.a);
    case 'h':
      return SyncAll();
    case 'c':
      return db_->CompactRange(nullptr, nullptr);
    case 't':
      return Do(Op{snapshots_.empty() ? 's' : 'r'});
    case 's':
      snapshots_.push_back(db_->GetSnapshot());
      return;
    case 'r':
      if (snapshots_.empty()) return;
      db_->ReleaseSnapshot(snapshots_.front());
      snapshots_.erase(snapshots_.begin());
      return;
    case 'o':
    case 'k':
    case 'x':
      return Reopen(op.kind);
    default:
      return Write(op);
  }
}

void Explorer::AddRegion() {
  NvmRegion region;
  region.path = "second region";
  const Status s = db_->AddRegion(region);
  if (s.ok()) totals_.regions++;
  const bool possible = config_.split > 0 && DBPeer::Regions(db_.get()) == 1;
  if (!s.ok() && (possible || !s.IsInvalidArgument())) Fail("add region: " + s.ToString());
}

// A drop is a write of one deletion, also of a family with nothing in it.
void Explorer::MakeOrDropFamily() {
  ColumnFamilyHandle* family = nullptr;
  Status s = db_->GetColumnFamily(kEmptyFamily, &family);
  if (s.IsNotFound()) {
    s = db_->CreateColumnFamily(kEmptyFamily, &family);
  } else if (s.ok()) {
    oracle_->Start({Update{-1, Update::Kind::kDelete, ""}});
    s = db_->DropColumnFamily(family);
    s.ok() ? oracle_->Acknowledge(!log_off()) : oracle_->Refuse();
  }
  if (s.ok()) totals_.families++;
  if (!s.ok() && !s.IsNoSpace()) Fail("column family: " + s.ToString());
}

// Writes in a savepoint survive with the savepoint, so every write before it is promised.
void Explorer::MakeOrDropSavepoint(uint32_t number) {
  const std::string name = std::to_string(number);
  const bool was_there = oracle_->HasSavepoint(name);
  oracle_->StartSavepoint(name);
  const Status s = was_there ? db_->DropSavepoint(name) : db_->CreateSavepoint(name);
  oracle_->EndSavepoint(name, s.ok() != was_there);
  if (s.ok() && !was_there) oracle_->PromiseAll();
  if (s.ok()) totals_.savepoints++;
  if (!s.ok() && !s.IsNoSpace()) Fail("savepoint: " + s.ToString());
}

// A synced write of nothing makes all writes before it durable.
void Explorer::SyncAll() {
  WriteOptions options;
  options.sync = true;
  WriteBatch nothing;
  const Status s = db_->Write(options, &nothing);
  if (s.ok() && !log_off()) oracle_->PromiseAll();
  if (!s.ok()) Fail("sync: " + s.ToString());
}

// Writers beside one another that found no room write on their own.
void Explorer::Write(const Op& op) {
  const std::vector<Update> updates = UpdatesOf(op, config_, oracle_->started() + 1);
  if (op.kind != 'w') return WriteBatchOf(updates, op.sync);
  size_t written = WriteBeside(db_.get(), media_[0].get(), updates, op.b, oracle_);
  totals_.beside += written;
  for (; written < updates.size() && !Done(); written++) {
    const uint64_t refused = totals_.refused;
    WriteBatchOf({updates[written]}, op.sync);
    if (totals_.refused != refused) return;  // the next one's value names another sequence
  }
}

void Explorer::WriteBatchOf(const std::vector<Update>& updates, bool sync) {
  WriteBatch batch;
  WriteOptions options;
  options.sync = sync;
  const Status made = MakeBatch(db_.get(), *oracle_, updates, &batch);
  oracle_->Start(updates);
  const Status s = made.ok() ? db_->Write(options, &batch) : made;
  if (s.ok()) {
    oracle_->Acknowledge(!log_off() && (sync || settings_.mode != Mode::kFile));
    return;
  }
  oracle_->Refuse();
  totals_.refused++;
  if (!s.IsNoSpace()) Fail("write: " + s.ToString());
}

void Explorer::Reopen(char how) {
  for (const Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
  snapshots_.clear();
  if (how == 'o' && log_off()) Do(Op{'f'});
  db_.reset();
  if (how == 'k') media_[0]->Kill();
  if (how == 'x') LosePower();
  random_state_[0] = Mix64(config_.seed, media_[0]->durable_hash());
  if (!OpenLive(true) || Done()) return;
  uint64_t p;
  const std::string wrong = oracle_->Check(db_.get(), LiveRange().kill, oracle_->started(), &p);
  if (!wrong.empty()) return Fail(wrong);
  oracles_.push_back(std::make_unique<Oracle>(oracle_->Fork(p)));
  oracle_ = oracles_.back().get();
}

// Leaves of every open line nothing, everything, any store or any words, drawn from the history so far.
void Explorer::LosePower() {
  Random random(Mix64(config_.seed, media_[0]->durable_hash()));
  const uint64_t dice = random.Uniform(4);
  std::vector<Choice> choices;
  for (const SimMedium::OpenLine& line : media_[0]->open_lines()) {
    uint64_t choice = 0;
    if (dice == 1) choice = random.Uniform(2) * line.stores;
    if (dice == 2) choice = random.Uniform(line.stores + 1u);
    if (dice == 3) choice = kTorn + random.Uniform(1u << kLineWords);
    choices.push_back(static_cast<Choice>(choice));
  }
  media_[0]->LosePower(choices);
  oracle_->LosePower();
}

// After every operation: an acknowledgement, or work that nobody sees.
void Explorer::CheckLive() {
  uint64_t p;
  std::string wrong = oracle_->Check(db_.get(), oracle_->started(), oracle_->started(), &p);
  if (wrong.empty()) wrong = DBPeer::CheckSpace(db_.get());
  if (wrong.empty()) wrong = media_[0]->FindStrayStore();
  if (wrong.empty() && settings_.check_flushes) wrong = media_[0]->FindUnflushedStore();
  if (!wrong.empty()) return Fail("no crash: " + wrong);
  if (DBPeer::TablesAt(db_.get(), -1) > 1) totals_.splits++;
  if (media_[0]->memory()->size > config_.initial_bytes) totals_.growths++;
  if (exploring_) Crash(0, -1, SiteKind::kFence, *oracle_, LiveRange());
}

// ---- Crashes

bool Explorer::FirstSight(uint64_t hash, const Range& range, int depth) {
  const uint64_t key = Mix64(Mix64(hash, range.low * 1000003 + range.high), static_cast<uint64_t>(depth));
  if (seen_.insert(key).second) return true;
  totals_.repeated++;
  return false;
}

std::string Explorer::Describe(int depth, int site, SiteKind kind, const std::vector<Choice>& choices) const {
  std::string text = "power fails after it";
  if (site >= 0) {
    text = (kind == SiteKind::kFence ? "power fails before the fence of " : "power fails at the store of ") +
           Sites::Name(site);
  }
  if (depth > 0) text += ", in recovery " + std::to_string(depth);
  const auto& lines = media_[depth]->open_lines();
  for (const bool left : {true, false}) {
    size_t shown = 0;
    for (size_t i = 0; i < lines.size(); i++) {
      if ((choices[i] != 0) != left) continue;
      if (shown++ == kLinesShown) {
        text += " ...";
        break;
      }
      text += (shown == 1 ? (left ? "; durable: " : "; not durable: ") : ", ") + Sites::Name(lines[i].site) + " line " +
              std::to_string(lines[i].line);
      if (choices[i] >= kTorn) text += " in part";
    }
  }
  return text;
}

void Explorer::Crash(int depth, int site, SiteKind kind, const Oracle& oracle, const Range& range) {
  const SimMedium& medium = *media_[depth];
  const auto& lines = medium.open_lines();
  totals_.points++;
  totals_.exhausted += FewEnough(lines, settings_.limits[depth]);
  if (site < 0 && depth > 0 && lines.empty()) return;
  CrashByKill(depth, oracle, range);
  PairCover pairs(settings_.check_pairs ? lines.size() : 0);
  Random random(medium.durable_hash());
  const std::string place = place_;
  const bool all = ForEachChoice(lines, settings_.limits[depth], &random, [&](const std::vector<Choice>& choices) {
    if (Done()) return false;
    if (settings_.check_pairs) pairs.Add(choices);
    if (!FirstSight(medium.ImageHash(choices), range, depth)) return true;
    medium.LoadImage(choices, media_[depth + 1].get());
    const bool was_good = failure_.empty();
    CheckImage(depth + 1, Left::kByPowerFailure, oracle, range);
    if (was_good && !failure_.empty()) {
      failure_ = place + ", " + Describe(depth, site, kind, choices) +
                 failure_.substr(std::min(failure_.size(), place.size()));
    }
    return true;
  });
  if (!all || !settings_.check_pairs) return;
  totals_.pairs += lines.size() * (lines.size() - std::min<size_t>(1, lines.size()));
  if (pairs.Missing() != 0) Fail(std::to_string(pairs.Missing()) + " ordered pairs of lines occur in no image");
}

void Explorer::CrashByKill(int depth, const Oracle& oracle, const Range& range) {
  const SimMedium& medium = *media_[depth];
  std::vector<Choice> all;
  for (const auto& line : medium.open_lines()) all.push_back(line.stores);
  const Range kill_range{range.kill, range.kill, range.high};
  if (!FirstSight(Mix64(medium.ImageHash(all), medium.durable_hash()), kill_range, depth)) return;
  medium.LoadKilled(media_[depth + 1].get());
  totals_.killed++;
  const std::string place = place_;
  const bool was_good = failure_.empty();
  CheckImage(depth + 1, Left::kByKill, oracle, range);
  if (was_good && !failure_.empty()) {
    failure_ = place + ", the process is killed" + failure_.substr(std::min(failure_.size(), place.size()));
  }
}

void Explorer::CheckImage(int depth, Left left, const Oracle& oracle, const Range& allowed) {
  SimMedium& medium = *media_[depth];
  Range range = allowed;
  if (left == Left::kByPowerFailure) range.kill = range.low;  // what only the process kept is gone for good
  totals_.images++;
  totals_.deep += depth > 1;
  const uint64_t hash = medium.durable_hash();
  random_state_[depth] = hash;
  // Stores of a killed process are uncertain until recovery has made them durable.
  const bool uncertain = left == Left::kByKill && !medium.open_lines().empty();
  const uint64_t one_in = depth < kMaxDepth ? settings_.recover_one_in[depth] : 0;
  const bool crash = one_in != 0 && (hash % one_in == 0 || (uncertain && hash % settings_.recover_killed_one_in == 0));
  if (crash) {
    medium.set_crash_point([&, depth](int site, SiteKind kind) {
      if (!Done()) Crash(depth, site, kind, oracle, range);
    });
  } else {
    medium.set_crash_point(nullptr);
  }
  std::unique_ptr<DBImpl> db;
  const Status s = Open(depth, &db);
  if (!s.ok()) Fail(": open: " + s.ToString());
  uint64_t p = 0;
  std::string wrong;
  if (!Done()) wrong = oracle.Check(db.get(), left == Left::kByKill ? range.kill : range.low, range.high, &p);
  if (!Done() && wrong.empty()) wrong = DBPeer::CheckSpace(db.get());
  if (wrong.empty() && settings_.check_flushes) wrong = medium.FindUnflushedStore();
  // Writes that were read must not disappear any more.
  if (wrong.empty() && crash && !Done()) Crash(depth, -1, SiteKind::kFence, oracle, {p, p, p});
  medium.set_crash_point(nullptr);
  db.reset();
  if (wrong.empty() && !Done() && !log_off() && settings_.go_on_one_in != 0 && hash % settings_.go_on_one_in == 0) {
    wrong = GoOn(depth, oracle, p);
  }
  if (wrong.empty() && totals_.images % kStrayCheckInterval == 0) wrong = medium.FindStrayStore();
  if (!wrong.empty()) Fail(": " + wrong);
}

// Recovers once more, writes, flushes, merges, and recovers again.
std::string Explorer::GoOn(int depth, const Oracle& before, uint64_t p) {
  totals_.went_on++;
  SimMedium& medium = *media_[depth];
  Oracle oracle = before.Fork(p);
  std::unique_ptr<DBImpl> db;
  if (depth < kMaxDepth && medium.durable_hash() / settings_.go_on_one_in % settings_.go_on_crashed_one_in == 0) {
    medium.set_crash_point([&, depth](int site, SiteKind kind) {
      if (!Done()) Crash(depth, site, kind, oracle, {oracle.promised(), oracle.acknowledged(), oracle.started()});
    });
  }
  const std::string wrong = GoOnWriting(depth, &oracle, p, &db);
  db.reset();
  medium.set_crash_point(nullptr);
  return wrong;
}

std::string Explorer::GoOnWriting(int depth, Oracle* oracle, uint64_t p, std::unique_ptr<DBImpl>* db) {
  for (int round = 0; round < 2; round++) {
    Status s = Open(depth, db);
    if (!s.ok()) return "open after the first recovery: " + s.ToString();
    if (MIODB_MUTATED(kLogAppendAfterOpen)) DBPeer::AppendToRecoveredLog(db->get());
    uint64_t now;
    std::string wrong = oracle->Check(db->get(), oracle->started(), oracle->started(), &now);
    if (wrong.empty()) wrong = DBPeer::CheckSpace(db->get());
    if (!wrong.empty()) return "opened again: " + wrong;
    for (uint32_t i = 0; i < 2; i++) {
      const Op op{'b', 2, static_cast<uint32_t>(p % 7 + i), true};
      const std::vector<Update> updates = UpdatesOf(op, config_, oracle->started() + 1);
      WriteBatch batch;
      const Status made = MakeBatch(db->get(), *oracle, updates, &batch);
      oracle->Start(updates);
      WriteOptions options;
      options.sync = round == 1;
      s = made.ok() ? (*db)->Write(options, &batch) : made;
      if (s.ok()) {
        oracle->Acknowledge(options.sync || settings_.mode != Mode::kFile);
      } else {
        oracle->Refuse();
        if (!s.IsNoSpace()) return "write after recovery: " + s.ToString();
      }
      if (i == 0 && round == 0) {
        while ((*db)->RunStep(DBImpl::Step::kFlush)) {
        }
        (*db)->RunStep(DBImpl::Step::kMerge);
      }
    }
    wrong = oracle->Check(db->get(), oracle->started(), oracle->started(), &now);
    if (wrong.empty()) wrong = DBPeer::CheckSpace(db->get());
    if (!wrong.empty()) return "after writing on: " + wrong;
    db->reset();
  }
  return "";
}

}  // namespace miodb::sim
