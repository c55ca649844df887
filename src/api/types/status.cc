#include "miodb/status.h"

#include <new>
#include <utility>

#include "src/util/check/check.h"

// A status: what it is behind its pointer, and what remains of it without memory.

namespace miodb {

// Behind a pointer and not in the header, so that an OK is a null pointer and the layout may change without programs
// being compiled anew.
struct Status::State {
  Code code;
  std::string message;
};

// The words of an error for which there is no memory: short enough for std::string to need none.
const Status::State* Status::Brief(Code code) {
  static const State brief[] = {{kOk, ""},
                                {kNotFound, "no memory"},
                                {kCorruption, "no memory"},
                                {kNotSupported, "no memory"},
                                {kInvalidArgument, "no memory"},
                                {kIOError, "out of memory"},
                                {kNoSpace, "no memory"},
                                {kBusy, "no memory"},
                                {kMergeInProgress, "no memory"}};
  CHECK_LT(static_cast<size_t>(code), sizeof(brief) / sizeof(brief[0]));  // they lie in the order of their codes
  return &brief[code];
}

// A status is made where something has failed already, perhaps for want of memory, so making one must not fail:
// without memory the kind stays and the words go.
static_assert(sizeof(Status) == sizeof(void*));  // what is no error takes no memory

Status::Status(Code code, const Slice& msg, const Slice& msg2) {
  DCHECK_NE(code, kOk);  // an OK has no state
  try {
    std::string message = msg.ToString();
    if (!msg2.empty()) {
      message.append(": ");
      message.append(msg2.data(), msg2.size());
    }
    state_ = new State{code, std::move(message)};
  } catch (const std::bad_alloc&) {
    state_ = Brief(code);
  }
}

// Not in the header, where State is declared and not defined.
Status::Code Status::CodeOf(const State* state) {
  DCHECK(state != nullptr);
  return state->code;
}

// A copy that finds no memory is the brief error of the same kind: callers decide by the kind.
const Status::State* Status::Clone(const State* state) {
  DCHECK(state != nullptr);
  try {
    return new State(*state);
  } catch (const std::bad_alloc&) {
    return Brief(state->code);
  }
}

// The brief ones are static and shared, and so never freed.
void Status::Free(const State* state) {
  DCHECK(state != nullptr);
  if (state != Brief(state->code)) delete state;
}

// LevelDB's words for LevelDB's kinds, because programs and their tests look for them.
std::string Status::ToString() const {
  switch (code()) {
    case kOk:
      return "OK";
    case kNotFound:
      return "NotFound: " + state_->message;
    case kCorruption:
      return "Corruption: " + state_->message;
    case kNotSupported:
      return "Not implemented: " + state_->message;
    case kInvalidArgument:
      return "Invalid argument: " + state_->message;
    case kIOError:
      return "IO error: " + state_->message;
    case kNoSpace:
      return "No space: " + state_->message;
    case kBusy:
      return "Resource busy: " + state_->message;
    case kMergeInProgress:
      return "Merge in progress: " + state_->message;
  }
  return state_->message;
}

}  // namespace miodb
