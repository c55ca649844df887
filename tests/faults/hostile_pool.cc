// Changes of a pool go through what src/inspect/ finds in it.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>

#include "pmtable/table_header.h"
#include "src/format/index_node.h"
#include "src/format/manifest_area.h"
#include "src/format/record.h"
#include "src/inspect/image/manifest_image.h"
#include "src/log/log_piece.h"
#include "src/nvm/pool/pool_image.h"
#include "src/util/bytes/family_key.h"
#include "tests/faults/hostile_bytes.h"

namespace miodb::test {

namespace {

// A pool, as far as it can be read. Offsets in the pool's own file are references.
class PoolForger {
 public:
  PoolForger(std::string* bytes, Random* random) : bytes_(bytes), random_(random), copy_(AlignedCopy(*bytes)) {
    image_ = PoolImage::Wrap("pool", copy_.get(), bytes->size() / kExtentUnit * kExtentUnit);
    if (bytes->size() >= kPoolHeaderSize) header_ = image_->Header();
  }

  std::string Change() {
    const RootSlot& root = header_.current;
    if (root.epoch == 0 || !image_->Readable(root.manifest_offset, root.manifest_size)) return "";
    if (root.manifest_size <= kAreaFooterBytes) return "";
    manifest_ = ReadManifestArea(*image_, root.manifest_offset, root.manifest_size, root.generation);
    switch (random_->Uniform(10)) {
      case 0:
        return ChangeRoot();
      case 1:
      case 2:
        return ChangeEdit();
      case 3:
        return AppendEdit();
      case 4:
        return ChangeFrame();
      default:
        return ChangeTable();
    }
  }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  using Copy = std::unique_ptr<char, Free>;

  static Copy AlignedCopy(const std::string& bytes) {
    const size_t size = (bytes.size() / 4096 + 1) * 4096;
    Copy copy(static_cast<char*>(std::aligned_alloc(4096, size)));
    memset(copy.get(), 0, size);
    memcpy(copy.get(), bytes.data(), bytes.size());
    return copy;
  }

  uint64_t secret() const { return header_.secret; }
  bool IsThere(PmRef offset, uint64_t size) const {
    return offset <= bytes_->size() && size <= bytes_->size() - offset;
  }

  std::string ChangeRoot() {
    RootSlot root = header_.current;
    uint64_t* const members[] = {&root.epoch, &root.manifest_offset, &root.manifest_size, &root.generation};
    uint64_t* const member = members[random_->Uniform(std::size(members))];
    *member = EdgeNumber(random_, *member + random_->Uniform(3) * kExtentUnit);
    if (root.epoch == 0) root.epoch = 1;
    root.checksum = RootChecksum(root, header_.pool_id);
    for (int copy = 0; copy < kRootCopies; copy++) {
      memcpy(&(*bytes_)[RootSlotOffset(root.epoch, copy)], &root, sizeof(root));
    }
    return "a root";
  }

  void WriteRecord(PmRef offset, uint64_t number, const std::string& payload) {
    std::string record;
    PutFixed32(&record, static_cast<uint32_t>(payload.size()));
    PutFixed32(&record, 0);
    PutFixed64(&record, number);
    PutFixed64(&record, ManifestRecordChecksum(AreaSeed(secret(), manifest_.generation), number, payload));
    record += payload;
    record.resize(ManifestRecordBytes(payload.size()), '\0');
    memcpy(&(*bytes_)[offset], record.data(), record.size());
  }

  std::string ChangeEdit() {
    if (manifest_.records.empty()) return "";
    const ManifestImage::Record& record = manifest_.records[random_->Uniform(manifest_.records.size())];
    std::string payload(image_->At(record.offset) + kManifestRecordHeader, DecodeFixed32(image_->At(record.offset)));
    if (payload.empty()) return "";
    ChangeStretch(payload.data(), payload.size(), random_);
    WriteRecord(record.offset, record.number, payload);
    return "an edit";
  }

  // The fields of docs/format.md, with numbers at the edges.
  std::string Field() {
    const auto edge = [&](uint64_t usual) { return EdgeNumber(random_, usual); };
    std::string field;
    const auto put = [&](char kind, std::initializer_list<uint64_t> numbers) {
      field += kind;
      for (const uint64_t number : numbers) PutVarint64(&field, number);
    };
    const ManifestState& state = manifest_.state;
    switch (random_->Uniform(9)) {
      case 0:
        put('\2', {edge(state.next_id)});
        break;
      case 1:
        put('\3', {edge(state.flushed_sequence)});
        break;
      case 2:
        if (state.tables.empty()) break;
        for (const auto& [number, t] : state.tables) {
          if (field.empty() || random_->OneIn(2)) {
            field.clear();
            const bool moves = random_->OneIn(2);  // or is another one
            const TablePlace& beside = random_->OneIn(2) ? state.tables.rbegin()->second : state.tables.begin()->second;
            put('\5', {number, moves ? random_->Uniform(4) : edge(t.level), moves ? beside.run : edge(t.run),
                       moves ? t.index_offset : edge(t.index_offset), moves ? t.index_size : edge(t.index_size)});
          }
        }
        break;
      case 3:
        put('\7', {edge(state.next_id), edge(kPoolHeaderSize), edge(kExtentUnit)});
        break;
      case 4:
        put('\16', {edge(state.next_id), edge(state.flushed_sequence)});
        PutLengthPrefixedSlice(&field, random_->OneIn(2) ? "b" : FamilyPrefix(1).slice());
        PutLengthPrefixedSlice(&field, random_->OneIn(2) ? "a" : FamilyPrefix(2).slice());
        break;
      case 5:
        put('\20', {edge(state.next_family)});
        break;
      case 6:
      case 7:
        for (const auto& [offset, p] : state.payload) {
          if (!field.empty() && !random_->OneIn(2)) continue;
          field.clear();
          if (random_->OneIn(2)) {
            put('\32', {offset / kExtentUnit, edge(p.live_bytes)});
          } else {
            put('\31', {edge(offset / kExtentUnit), edge(p.size / kExtentUnit), edge(static_cast<uint64_t>(p.kind)),
                        edge(p.payload_bytes), edge(p.live_bytes)});
          }
        }
        break;
      default:
        put('\21', {edge(state.next_family)});
        PutLengthPrefixedSlice(&field, "evil");
    }
    return field;
  }

  std::string AppendEdit() {
    if (manifest_.records.empty()) return "";
    const ManifestImage::Record& last = manifest_.records.back();
    std::string payload;
    for (uint64_t n = 1 + random_->Uniform(2); n > 0; n--) payload += Field();
    const uint64_t offset = last.offset + last.bytes, end = manifest_.offset + manifest_.size - kAreaFooterBytes;
    if (payload.empty() || offset + ManifestRecordBytes(payload.size()) > end) return "";
    WriteRecord(offset, last.number + 1, payload);
    return "an edit more";
  }

  // The key, the tag and the value of a record, with its check. REQUIRES: the record is in *bytes_.
  void ChangeRecord(PmRef ref, uint64_t limit) {
    char* const p = &(*bytes_)[ref];
    RecordView record;
    if (!ParseRecord(p, &(*bytes_)[0] + limit, &record)) return;
    const size_t key = static_cast<size_t>(record.key.data() - p), value = static_cast<size_t>(record.value.data() - p);
    switch (random_->Uniform(4)) {
      case 0:
        EncodeFixed64(p + 4, (EdgeNumber(random_, record.sequence()) << 8) | (record.tag & 0xff));
        break;
      case 1:
        p[4] = static_cast<char>(random_->OneIn(2) ? random_->Uniform(4) : 64);
        break;
      case 2:
        if (!record.key.empty()) ChangeStretch(p + key, record.key.size(), random_);
        break;
      default:
        if (random_->OneIn(2) && record.key.size() >= kFamilyMarkBytes) {
          memcpy(p + key, kFamilyMark, kFamilyMarkBytes);
        } else if (!record.value.empty()) {
          ChangeStretch(p + value, record.value.size(), random_);
        }
    }
    EncodeFixed32(p, static_cast<uint32_t>(record.Hash(secret())));
  }

  // A record of a frame, the frame's checksum and the chunk's index, if there is one, as it was.
  std::string ChangeFrame() {
    const auto& chunks = manifest_.state.chunks;
    if (chunks.empty()) return "";
    auto chunk = chunks.begin();
    std::advance(chunk, random_->Uniform(chunks.size()));
    const LogChunkPlace& place = chunk->second;
    if (!image_->Readable(place.offset, place.size) || !IsThere(place.offset, place.size)) return "";
    const LogPiece piece = ReadLogChunk(place, image_->At(place.offset), secret());
    if (piece.frames.empty()) return "";
    const FrameView& frame = piece.frames[random_->Uniform(piece.frames.size())];
    const PmRef begin = image_->RefOf(frame.begin), body = image_->RefOf(frame.body), end = image_->RefOf(frame.end);
    ChangeRecord(body, end);
    uint64_t sum = FrameSeed(secret(), place.id, end - body);
    RecordView record;
    for (const char* p = &(*bytes_)[body]; p < &(*bytes_)[0] + end; p += record.size()) {
      if (!ParseRecord(p, &(*bytes_)[0] + end, &record)) return "a frame in parts";
      sum = FrameFold(sum, record.Hash(secret()));
    }
    EncodeFixed64(&(*bytes_)[begin], FrameAhead(sum, frame.ahead));
    return "a frame";
  }

  std::string ChangeTable() {
    const auto& tables = manifest_.state.tables;
    if (tables.empty()) return "";
    auto table = tables.begin();
    std::advance(table, random_->Uniform(tables.size()));
    const TablePlace& place = table->second;
    TableHeader h;
    if (!IsThere(place.index_offset, sizeof(h)) || place.index_size > bytes_->size() - place.index_offset) return "";
    memcpy(&h, &(*bytes_)[place.index_offset], sizeof(h));
    if (h.magic != kTableMagic || h.checksum != TableHeaderChecksum(h)) return "";
    if (!TableHeaderProblem(h, place.index_size, h.number, true).empty()) return "";  // was forged before
    char* const base = &(*bytes_)[place.index_offset];
    std::string done;
    switch (random_->Uniform(7)) {
      case 0:
        done = ChangeHeader(&h);
        break;
      case 1:
        done = ChangeInner(base, &h);
        break;
      case 2:
      case 3: {
        const uint64_t entry = random_->Uniform(h.entries);
        LeafNode leaf;
        memcpy(&leaf, base + sizeof(h) + entry / kNodeFanout * sizeof(leaf), sizeof(leaf));
        const PmRef ref = IndexWord(leaf.word[entry % kNodeFanout]).ref();
        if (IsThere(ref, kRecordFixedSize)) ChangeRecord(ref, bytes_->size());
        return "a record";
      }
      default:
        done = ChangeLeaf(base, h);
    }
    h.checksum = TableHeaderChecksum(h);
    memcpy(base, &h, sizeof(h));
    return done;
  }

  std::string ChangeHeader(TableHeader* h) {
    uint64_t* const members[] = {&h->entries,      &h->tombstones,   &h->leaf_count,     &h->inner_count,
                                 &h->min_sequence, &h->max_sequence, &h->ranges_applied, &h->payload_bytes,
                                 &h->expiring,     &h->first_expiry, &h->last_expiry};
    if (random_->OneIn(4)) {
      h->flags ^= 1u << random_->Uniform(10);
    } else {
      uint64_t* const member = members[random_->Uniform(std::size(members))];
      *member = random_->OneIn(2) ? *member + 1 - random_->Uniform(3) : EdgeNumber(random_, *member);
    }
    return "a table's header";
  }

  template <typename Node, typename Item>
  void ChangeNode(Node* node, Item* items) {
    // The count may be a number that an earlier change has made.
    const auto any = [&] { return random_->Uniform(std::clamp<uint64_t>(node->header.count, 1, kNodeFanout)); };
    switch (random_->Uniform(7)) {
      case 0:
        std::swap(node->head[any()], node->head[any()]);
        break;
      case 1:
        std::swap(items[any()], items[any()]);
        break;
      case 2:
        items[any()] = items[any()];
        break;
      case 3: {
        Item& item = items[any()];
        item ^= Item{1} << random_->Uniform(64);
        break;
      }
      case 4:
        node->head[any()] = random_->OneIn(2) ? 0 : UINT64_MAX - random_->Uniform(2);
        break;
      case 5:
        node->header.prefix_size = static_cast<uint8_t>(random_->Uniform(kMaxNodePrefix + 1));
        if (random_->OneIn(2)) node->header.suffix_size = static_cast<uint8_t>(random_->Uniform(kHeadSize + 1));
        break;
      default: {  // two whole entries
        const auto a = any(), b = any();
        std::swap(node->head[a], node->head[b]);
        std::swap(items[a], items[b]);
      }
    }
  }

  template <typename Node>
  static void Seal(Node* node, uint64_t seed) {
    node->header.checksum = Hash64(reinterpret_cast<const char*>(node) + 8, sizeof(*node) - 8, seed);
  }

  std::string ChangeLeaf(char* base, const TableHeader& h) {
    const uint64_t offset = sizeof(h) + random_->Uniform(h.leaf_count) * sizeof(LeafNode);
    LeafNode node;
    memcpy(&node, base + offset, sizeof(node));
    for (uint64_t n = 1 + random_->Uniform(2); n > 0; n--) ChangeNode(&node, node.word);
    Seal(&node, NodeSeed(secret(), offset));
    memcpy(base + offset, &node, sizeof(node));
    return "a leaf";
  }

  std::string ChangeInner(char* base, TableHeader* h) {
    if (h->inner_count == 0) return ChangeLeaf(base, *h);
    const uint64_t offset = h->inner_offset + random_->Uniform(h->inner_count) * sizeof(InnerNode);
    InnerNode node;
    memcpy(&node, base + offset, sizeof(node));
    ChangeNode(&node, node.ref);
    Seal(&node, NodeSeed(secret(), offset));
    memcpy(base + offset, &node, sizeof(node));
    const uint64_t seed = TableSeed(secret(), h->number);
    h->inner_checksum = Hash64(base + h->inner_offset, h->inner_count * sizeof(InnerNode), seed);
    return "an inner node";
  }

  std::string* const bytes_;
  Random* const random_;
  const Copy copy_;
  std::unique_ptr<PoolImage> image_;
  PoolHeader header_ = {};
  ManifestImage manifest_;
};

}  // namespace

std::string ChangePool(std::string* bytes, Random* random) { return PoolForger(bytes, random).Change(); }

}  // namespace miodb::test
