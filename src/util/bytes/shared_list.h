// A list that its copies share: a copy costs a reference, and a change of one copy costs some nodes of a tree, however
// long the list is. The list is a B-tree by position; the items are in the leaves.
//
// A change makes new nodes from the changed leaf up to the root and shares all others. If no other list has a node, the
// node is changed in place, so many changes of one copy cost little more than a single change.
//
// A summary of items, kept for each part of the tree, lets a search leave out the parts that cannot have what it is
// for. Summary: has void Add(const T&) and void Add(const Summary&); made anew it is that of no items. The summary of
// an item must never change.
//
// Threads: a list that does not change may be read and copied by any number of threads. A list that another thread may
// have a copy of is changed by making a copy first, changing that, and keeping the original meanwhile.
//
// Ownership: references to items are valid until the list changes or goes. A change that throws (memory) leaves a list
// that may only be dropped.

#ifndef MIODB_SRC_UTIL_BYTES_SHARED_LIST_H_
#define MIODB_SRC_UTIL_BYTES_SHARED_LIST_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "src/util/check/check.h"
#include "src/util/check/visits.h"

namespace miodb {

template <typename T>
struct NoSummary {
  void Add(const T&) {}
  void Add(const NoSummary&) {}
};

template <typename T, typename Summary = NoSummary<T>, size_t kFanout = 8>
class SharedList {
  static_assert(kFanout >= 4);

  struct Node {
    explicit Node(int h) : height(h) {}
    const int height;  // 0: a leaf
    size_t size = 0;   // entries
  };
  using NodeRef = std::shared_ptr<Node>;

  template <typename Entry>
  struct NodeOf final : Node {
    using Node::Node;
    std::array<Entry, kFanout> entries;

    void Insert(size_t i, Entry entry) {
      DCHECK(i <= this->size && this->size < kFanout);
      std::move_backward(entries.begin() + i, entries.begin() + this->size, entries.begin() + this->size + 1);
      entries[i] = std::move(entry);
      this->size++;
    }

    void Erase(size_t i) {
      DCHECK_LT(i, this->size);
      std::move(entries.begin() + i + 1, entries.begin() + this->size, entries.begin() + i);
      entries[--this->size] = Entry();
    }
  };

  struct Child {
    Child() = default;
    explicit Child(NodeRef n) : node(std::move(n)) { Refresh(); }

    // After the node or what is below it has changed.
    void Refresh() {
      DCHECK(node != nullptr && node->size > 0);
      summary = Summary();
      if (node->height == 0) {
        const NodeOf<T>& leaf = As<T>(*node);
        count = leaf.size;
        first = &leaf.entries[0];
        for (size_t i = 0; i < leaf.size; i++) summary.Add(leaf.entries[i]);
        return;
      }
      const NodeOf<Child>& inner = As<Child>(*node);
      count = 0;
      first = inner.entries[0].first;
      for (size_t i = 0; i < inner.size; i++) {
        count += inner.entries[i].count;
        summary.Add(inner.entries[i].summary);
      }
    }

    NodeRef node;
    size_t count = 0;          // items below
    const T* first = nullptr;  // of these
    [[no_unique_address]] Summary summary;
  };

 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const SharedList* list, size_t index) : list_(list), index_(index) {
      if (index < list->size()) list->Locate(index, &at_, &end_);
    }

    const T& operator*() const {
      DCHECK(at_ != nullptr && index_ < list_->size());
      return *at_;
    }
    const T* operator->() const { return &**this; }
    Iterator& operator++() {
      index_++;
      Visits::Add(1);
      if (++at_ == end_) *this = Iterator(list_, index_);
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const {
      DCHECK(list_ == other.list_);
      return index_ == other.index_;
    }

   private:
    const SharedList* list_ = nullptr;
    size_t index_ = 0;
    const T* at_ = nullptr;  // in a leaf that ends at end_
    const T* end_ = nullptr;
  };

  using value_type = T;
  using const_iterator = Iterator;

  SharedList() = default;
  SharedList(const std::vector<T>& items) {  // NOLINT(google-explicit-constructor): the same thing in another form
    for (const T& item : items) push_back(item);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, size_); }

  // REQUIRES: i < size()
  const T& operator[](size_t i) const {
    const T *at, *end;
    Locate(i, &at, &end);
    return *at;
  }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size_ - 1]; }

  // How many items at the front go before a place. before(item): whether the item does. REQUIRES: it is true of the
  // items up to one and false from there on.
  template <typename Before>
  size_t CountBefore(Before before) const {
    if (root_ == nullptr) return 0;
    size_t passed = 0;
    const Node* node = root_.get();
    while (node->height > 0) {
      const auto& entries = As<Child>(*node).entries;
      // The last child that begins before the place, for the others are wholly before it or behind.
      const auto next = std::partition_point(entries.begin() + 1, entries.begin() + node->size,
                                             [&](const Child& child) { return before(*child.first); });
      for (auto child = entries.begin(); child + 1 != next; ++child) passed += child->count;
      node = std::prev(next)->node.get();
    }
    const T* const items = As<T>(*node).entries.data();
    return passed + static_cast<size_t>(std::partition_point(items, items + node->size, before) - items);
  }

  // The last item that goes before a place, or null. before is as above, and besides before(summary) tells of a part's
  // first item whether it goes before: so the items of one leaf alone are looked at.
  template <typename Before>
  const T* LastBefore(Before before) const {
    if (root_ == nullptr) return nullptr;
    const Node* node = root_.get();
    while (node->height > 0) {
      const auto& entries = As<Child>(*node).entries;
      const auto next = std::partition_point(entries.begin() + 1, entries.begin() + node->size,
                                             [&](const Child& child) { return before(child.summary); });
      node = std::prev(next)->node.get();
    }
    const T* const items = As<T>(*node).entries.data();
    const T* const behind = std::partition_point(items, items + node->size, before);
    return behind != items ? behind - 1 : nullptr;
  }

  // Calls visit(item) in order for the items of each part of which wants(summary) is true when the search comes to it.
  // A search whose wishes shrink with what it has seen visits few.
  template <typename Wants, typename Visit>
  void Search(Wants wants, Visit visit) const {
    if (root_ != nullptr) SearchBelow(*root_, wants, visit);
  }

  // The summary of all items, from the parts below the root alone.
  Summary Total() const {
    Summary total;
    if (root_ != nullptr && root_->height == 0) {
      const NodeOf<T>& leaf = As<T>(*root_);
      for (size_t i = 0; i < leaf.size; i++) total.Add(leaf.entries[i]);
    } else if (root_ != nullptr) {
      const NodeOf<Child>& inner = As<Child>(*root_);
      for (size_t i = 0; i < inner.size; i++) total.Add(inner.entries[i].summary);
    }
    return total;
  }

  // REQUIRES: i <= size()
  void Insert(size_t i, T item) {
    CHECK_LE(i, size_);
    if (root_ == nullptr) root_ = std::make_shared<NodeOf<T>>(0);
    NodeRef split = InsertBelow(&root_, i, std::move(item));
    size_++;
    if (split == nullptr) return;
    auto root = std::make_shared<NodeOf<Child>>(root_->height + 1);
    root->Insert(0, Child(std::move(root_)));
    root->Insert(1, Child(std::move(split)));
    root_ = std::move(root);
  }
  void push_back(T item) { Insert(size_, std::move(item)); }

  // REQUIRES: i < size()
  void Erase(size_t i) {
    CHECK_LT(i, size_);
    EraseBelow(&root_, i);
    size_--;
    if (root_->size == 0) root_.reset();
    while (root_ != nullptr && root_->height > 0 && root_->size == 1)
      root_ = NodeRef(As<Child>(*root_).entries[0].node);
  }

 private:
  template <typename Entry>
  static NodeOf<Entry>& As(Node& node) {
    return static_cast<NodeOf<Entry>&>(node);
  }
  template <typename Entry>
  static const NodeOf<Entry>& As(const Node& node) {
    return static_cast<const NodeOf<Entry>&>(node);
  }

  // The node, or a copy in its place if another list has it too. Nodes above it are this list's alone already.
  template <typename Entry>
  static NodeOf<Entry>& Own(NodeRef* node) {
    if (node->use_count() > 1) *node = std::make_shared<NodeOf<Entry>>(As<Entry>(**node));
    return As<Entry>(**node);
  }

  template <typename Wants, typename Visit>
  static void SearchBelow(const Node& node, Wants& wants, Visit& visit) {
    if (node.height == 0) {
      const NodeOf<T>& leaf = As<T>(node);
      Visits::Add(leaf.size);
      for (size_t i = 0; i < leaf.size; i++) visit(leaf.entries[i]);
      return;
    }
    const NodeOf<Child>& inner = As<Child>(node);
    for (size_t i = 0; i < inner.size; i++) {
      if (wants(inner.entries[i].summary)) SearchBelow(*inner.entries[i].node, wants, visit);
    }
  }

  // The items from i on to the end of the leaf that has item i.
  void Locate(size_t i, const T** at, const T** end) const {
    DCHECK_LT(i, size_);
    Visits::Add(1);
    const Node* node = root_.get();
    while (node->height > 0) {
      const Child* child = As<Child>(*node).entries.data();
      while (i >= child->count) i -= (child++)->count;
      node = child->node.get();
    }
    const T* const items = As<T>(*node).entries.data();
    *at = items + i;
    *end = items + node->size;
  }

  // The place of the child that has item *i, or gets it as its last; *i becomes the item's place in there.
  static size_t ChildOf(const NodeOf<Child>& inner, size_t* i) {
    size_t c = 0;
    while (c + 1 < inner.size && *i >= inner.entries[c].count) *i -= inner.entries[c++].count;
    DCHECK_LE(*i, inner.entries[c].count);
    return c;
  }

  // Returns the second half if the node was full. Items added at the end leave full nodes behind.
  template <typename Entry>
  static NodeRef InsertHere(NodeOf<Entry>* node, size_t i, Entry entry) {
    DCHECK_LE(i, node->size);
    if (node->size < kFanout) {
      node->Insert(i, std::move(entry));
      return nullptr;
    }
    auto right = std::make_shared<NodeOf<Entry>>(node->height);
    const size_t keep = i == kFanout ? kFanout : kFanout / 2;
    for (size_t from = keep; from < kFanout; from++) right->Insert(from - keep, std::move(node->entries[from]));
    while (node->size > keep) node->Erase(node->size - 1);
    if (i < keep) {
      node->Insert(i, std::move(entry));
    } else {
      right->Insert(i - keep, std::move(entry));
    }
    return right;
  }

  static NodeRef InsertBelow(NodeRef* node, size_t i, T item) {
    if ((*node)->height == 0) return InsertHere<T>(&Own<T>(node), i, std::move(item));
    NodeOf<Child>& inner = Own<Child>(node);
    const size_t c = ChildOf(inner, &i);
    NodeRef split = InsertBelow(&inner.entries[c].node, i, std::move(item));
    inner.entries[c].Refresh();
    return split == nullptr ? nullptr : InsertHere<Child>(&inner, c + 1, Child(std::move(split)));
  }

  static void EraseBelow(NodeRef* node, size_t i) {
    if ((*node)->height == 0) return Own<T>(node).Erase(i);
    NodeOf<Child>& inner = Own<Child>(node);
    const size_t c = ChildOf(inner, &i);
    EraseBelow(&inner.entries[c].node, i);
    if (inner.entries[c].node->size == 0) return inner.Erase(c);
    inner.entries[c].Refresh();
    if (inner.size == 1) return;
    const size_t left = c > 0 ? c - 1 : 0;
    if (inner.entries[left].node->size + inner.entries[left + 1].node->size > kFanout / 2) return;
    if (inner.entries[left].node->height == 0) {
      Join<T>(&inner, left);
    } else {
      Join<Child>(&inner, left);
    }
  }

  // Two neighbours into one node.
  template <typename Entry>
  static void Join(NodeOf<Child>* inner, size_t left) {
    NodeOf<Entry>& joined = Own<Entry>(&inner->entries[left].node);
    const NodeOf<Entry>& right = As<Entry>(*inner->entries[left + 1].node);
    DCHECK(joined.height == right.height && joined.size + right.size <= kFanout);
    for (size_t i = 0; i < right.size; i++) joined.Insert(joined.size, right.entries[i]);
    inner->Erase(left + 1);
    inner->entries[left].Refresh();
  }

  NodeRef root_;  // null: an empty list
  size_t size_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_BYTES_SHARED_LIST_H_
