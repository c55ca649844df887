#include "tests/common/random/model.h"

#include <cstdio>
#include <utility>

namespace miodb::test {

void Model::Add(const std::string& key, std::optional<std::string> value) {
  (*versions_)[key].push_back({++number_, key, std::move(value)});
}

void Model::Merge(const std::string& key, const std::string& operand) {
  const std::string* const value = Snapshot().Find(key);
  Add(key, value == nullptr ? operand : *value + "," + operand);
}

void Model::DeleteRange(const std::string& begin, const std::string& end) {
  if (!versions_->key_comp()(begin, end)) return;
  const auto last = versions_->lower_bound(end);
  for (auto it = versions_->lower_bound(begin); it != last; ++it) {
    it->second.push_back({++number_, it->first, std::nullopt});
  }
}

Model::State Model::Snapshot() const { return State(versions_, number_); }

void Model::Apply(const WriteBatch& batch) {
  struct Handler final : WriteBatch::Handler {
    explicit Handler(Model* m) : model(m) {}
    void Put(const Slice& key, const Slice& value) override { model->Put(key.ToString(), value.ToString()); }
    void Delete(const Slice& key) override { model->Delete(key.ToString()); }
    Status Merge(const Slice& key, const Slice& operand) override {
      model->Merge(key.ToString(), operand.ToString());
      return Status::OK();
    }
    Status SingleDelete(const Slice& key) override {
      model->Delete(key.ToString());
      return Status::OK();
    }
    Status DeleteRange(const Slice& begin, const Slice& end) override {
      model->DeleteRange(begin.ToString(), end.ToString());
      return Status::OK();
    }
    Model* const model;
  };
  Handler handler(this);
  batch.Iterate(&handler).IgnoreError();  // a batch made in memory is whole
}

const Model::Version* Model::State::Visible(const std::deque<Version>& versions, uint64_t number) {
  for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
    if (it->number <= number) return it->value ? &*it : nullptr;
  }
  return nullptr;
}

const std::string* Model::State::Find(const std::string& key) const {
  const auto it = versions_->find(key);
  const Version* const version = it == versions_->end() ? nullptr : Visible(it->second, number_);
  return version == nullptr ? nullptr : &*version->value;
}

Model::State::Cursor::Cursor(const State* state, Versions::const_iterator at)
    : versions_(state->versions_.get()), number_(state->number_), at_(at) {
  SkipMissing();
}

void Model::State::Cursor::SkipMissing() {
  for (; at_ != versions_->end(); ++at_) {
    found_ = Visible(at_->second, number_);
    if (found_ != nullptr) return;
  }
}

Model::State::Cursor& Model::State::Cursor::operator++() {
  ++at_;
  SkipMissing();
  return *this;
}

Model::State::Cursor& Model::State::Cursor::operator--() {
  do {
    --at_;
    found_ = Visible(at_->second, number_);
  } while (found_ == nullptr);
  return *this;
}

ModelCursor::ModelCursor(Model::State state, std::optional<std::string> lower, std::optional<std::string> upper)
    : state_(std::move(state)),
      begin_(lower ? state_.LowerBound(*lower) : state_.begin()),
      end_(upper ? state_.LowerBound(*upper) : state_.end()),
      at_(end_) {
  // Bounds the wrong way round leave nothing.
  if (lower && upper && !state_.Before(*lower, *upper)) begin_ = end_;
}

void ModelCursor::SeekToFirst() {
  at_ = begin_;
  valid_ = at_ != end_;
}

void ModelCursor::SeekToLast() {
  valid_ = begin_ != end_;
  if (!valid_) return;
  at_ = end_;
  --at_;
}

void ModelCursor::Seek(const std::string& target) {
  const auto end = state_.end();
  at_ = state_.LowerBound(target);
  if (begin_ == end_ || (begin_ != end && at_ != end && state_.Before(at_.key(), begin_.key()))) at_ = begin_;
  valid_ = begin_ != end_ && at_ != end && (end_ == end || state_.Before(at_.key(), end_.key()));
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
