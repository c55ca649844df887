#include "tests/common/model.h"

#include <cstdio>
#include <utility>

namespace miodb::test {

Model::Map* Model::Own() {
  if (map_.use_count() > 1) map_ = std::make_shared<Map>(*map_);
  return map_.get();
}

void Model::Put(const std::string& key, const std::string& value) {
  Map* const map = Own();
  map->erase(key);  // an equal key may have other bytes
  map->emplace(key, std::make_shared<const std::string>(value));
}

void Model::Delete(const std::string& key) { Own()->erase(key); }

void Model::Apply(const WriteBatch& batch) {
  struct Handler final : WriteBatch::Handler {
    explicit Handler(Model* m) : model(m) {}
    void Put(const Slice& key, const Slice& value) override { model->Put(key.ToString(), value.ToString()); }
    void Delete(const Slice& key) override { model->Delete(key.ToString()); }
    Model* const model;
  };
  Handler handler(this);
  batch.Iterate(&handler).IgnoreError();  // a batch made in memory is whole
}

const std::string* Model::Find(const Map& state, const std::string& key) {
  const auto it = state.find(key);
  return it == state.end() ? nullptr : it->second.get();
}

ModelCursor::ModelCursor(Model::State state, std::optional<std::string> lower, std::optional<std::string> upper)
    : state_(std::move(state)),
      begin_(lower ? state_->lower_bound(*lower) : state_->begin()),
      end_(upper ? state_->lower_bound(*upper) : state_->end()),
      at_(end_) {
  // Bounds the wrong way round leave nothing.
  if (lower && upper && !state_->key_comp()(*lower, *upper)) begin_ = end_;
}

void ModelCursor::SeekToFirst() {
  at_ = begin_;
  valid_ = at_ != end_;
}

void ModelCursor::SeekToLast() {
  valid_ = begin_ != end_;
  if (valid_) at_ = std::prev(end_);
}

void ModelCursor::Seek(const std::string& target) {
  const auto& less = state_->key_comp();
  at_ = state_->lower_bound(target);
  if (begin_ == end_ || (begin_ != state_->end() && at_ != state_->end() && less(at_->first, begin_->first)))
    at_ = begin_;
  valid_ = begin_ != end_ && at_ != state_->end() && (end_ == state_->end() || less(at_->first, end_->first));
}

void ModelCursor::Next() {
  ++at_;
  valid_ = at_ != end_;
}

void ModelCursor::Prev() {
  valid_ = at_ != begin_;
  if (valid_) --at_;
}

std::string Printable(const Slice& bytes) {
  constexpr size_t kShown = 160;
  std::string text = "\"";
  for (size_t i = 0; i < bytes.size() && i < kShown; i++) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte >= ' ' && byte < 0x7f && byte != '\\' && byte != '"') {
      text.push_back(static_cast<char>(byte));
    } else {
      char hex[8];
      std::snprintf(hex, sizeof(hex), "\\x%02x", byte);
      text += hex;
    }
  }
  text += bytes.size() > kShown ? "...\" (" + std::to_string(bytes.size()) + " bytes)" : "\"";
  return text;
}

}  // namespace miodb::test
