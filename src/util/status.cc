#include "miodb/status.h"

#include <utility>

namespace miodb {

struct Status::State {
  Code code;
  std::string message;
};

Status::Status(Code code, const Slice& msg, const Slice& msg2) {
  std::string message = msg.ToString();
  if (!msg2.empty()) {
    message.append(": ");
    message.append(msg2.data(), msg2.size());
  }
  state_ = new State{code, std::move(message)};
}

Status::Code Status::CodeOf(const State* state) { return state->code; }

const Status::State* Status::Clone(const State* state) { return new State(*state); }

void Status::Free(const State* state) { delete state; }

std::string Status::ToString() const {
  const char* kind = "";
  switch (code()) {
    case kOk:
      return "OK";
    case kNotFound:
      kind = "NotFound: ";
      break;
    case kCorruption:
      kind = "Corruption: ";
      break;
    case kNotSupported:
      kind = "Not implemented: ";
      break;
    case kInvalidArgument:
      kind = "Invalid argument: ";
      break;
    case kIOError:
      kind = "IO error: ";
      break;
    case kNoSpace:
      kind = "No space: ";
      break;
  }
  return kind + state_->message;
}

}  // namespace miodb
