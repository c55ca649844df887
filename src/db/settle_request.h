// A caller who wants everything in the repository.

#ifndef MIODB_SRC_DB_SETTLE_REQUEST_H_
#define MIODB_SRC_DB_SETTLE_REQUEST_H_

namespace miodb {

// Counts one more such caller while it lives or until End, however its scope is left. REQUIRES: the mutex of the count.
class SettleRequest {
 public:
  explicit SettleRequest(int* requests) : requests_(requests) { ++*requests_; }
  ~SettleRequest() { End(); }
  SettleRequest(const SettleRequest&) = delete;
  SettleRequest& operator=(const SettleRequest&) = delete;

  void End() {
    if (requests_ != nullptr) --*requests_;
    requests_ = nullptr;
  }

 private:
  int* requests_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_SETTLE_REQUEST_H_
