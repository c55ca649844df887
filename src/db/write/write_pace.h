// WritePace: how fast writers may go in a pool that fills.
//
// Space that writers may use up (left) falls with every chunk of the log, and comes back in lumps, when a job ends that
// has given space free. So writers are to use up in the longest time between two such returns no more than a part of
// what is left. Once left is less than near, they take for each byte
//
//   kPatience * period * (1 / left - 1 / near)
//
// where period is that longest time of late, or the time that has passed since the last return if it is longer; time in
// which more than near was left does not count, as nobody looked for space then. The pace begins with nothing at near,
// and without any return left falls ever more slowly. Where it comes to rest the rates of use and return are equal,
// whatever they are; sizes and rates of the pool enter as ratios alone. While nothing is at work there is no pace:
// writers are to reach the limit then, where what is left to do is begun.
//
// Threads: none of its own; the owner's lock guards it. No clock and no pool are inside.

#ifndef MIODB_SRC_DB_WRITE_WRITE_PACE_H_
#define MIODB_SRC_DB_WRITE_WRITE_PACE_H_

#include <cstdint>

namespace miodb {

class WritePace {
 public:
  // The database at a moment. Bytes, but for micros, which is a clock that does not go back.
  struct Moment {
    uint64_t micros = 0;
    uint64_t left = 0;     // more than nothing
    uint64_t near = 0;     // more than nothing
    uint64_t chunk = 0;    // in which they take it
    bool at_work = false;  // something is running that may give space back
    uint64_t held = 0;     // of left, what copies of running jobs want; less than left
  };

  // Writers may use up 1 - 1 / e^(1 / kPatience) of what is left while they wait for a return.
  static constexpr uint64_t kPatience = 3;

  // Left has to rise by so much to count as a return: by such a part of near, and by so many chunks, one of which may
  // be on its way.
  static constexpr uint64_t kReturnShare = 16;
  static constexpr uint64_t kReturnChunks = 2;

  // The longest period is that of the last one to two times so many returns.
  static constexpr uint64_t kReturnsRemembered = 32;

  // A KiB is worth no more.
  static constexpr uint64_t kMostNanos = 1000 * 1000 * 1000;

  // Writers have taken so many bytes.
  void Take(uint64_t bytes) { taken_ += bytes; }

  // Nanoseconds that writers are to spend on each KiB from now on; 0: they are not slowed. Changes what is remembered.
  uint64_t Observe(const Moment& now);

 private:
  // Before the first return.
  static constexpr uint64_t kFirstPeriodMicros = 100 * 1000;

  void See(const Moment& now);

  uint64_t taken_ = 0;            // by writers, so far
  uint64_t seen_micros_ = 0;      // the last moment
  uint64_t work_micros_ = 0;      // of time with something at work
  bool at_work_ = false;          // at the last moment
  uint64_t sum_ = 0;              // of left and taken, the least since the last return: grows with what comes back
  uint64_t returned_micros_ = 0;  // work_micros_ at the last return
  uint64_t returns_ = 0;
  uint64_t longest_micros_ = kFirstPeriodMicros;  // between two of the present returns
  uint64_t longest_before_micros_ = 0;            // and of those before
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_WRITE_WRITE_PACE_H_
