# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# The extension module: the classes of plyvel's interface over the C API, and what MioDB adds.
#
# It is one module, because every extension module would carry an engine of its own. Its parts, in the order in which they
# use each other:
#
#   errors.pxi    exceptions, and errors of the C API as exceptions
#   bytes.pxi     keys and values as pointers for the length of a call
#   options.pxi   keyword arguments as the options of an open
#   store.pxi     the open store: who may call it, what depends on it, how it is closed
#   batch.pxi     write batches
#   values.pxi    values without a copy
#   cursors.pxi   iterators
#   views.pxi     reads of a store, a snapshot or a prefix
#   db.pxi        the database
#
# Threads: every call of the C API that may touch the medium or wait runs without the GIL. What a call needs is held by a
# count in the store, which is only changed under the GIL; close() waits until the count is zero. No Python object that the
# garbage collector tracks may be made while a call is counted: a finalizer could close the database in the same thread.

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cimport cython

from miodb.c_api cimport *

import atexit
import errno
import operator
import os
import threading
import types
import weakref

include "errors.pxi"
include "bytes.pxi"
include "options.pxi"
include "store.pxi"
include "batch.pxi"
include "values.pxi"
include "cursors.pxi"
include "views.pxi"
include "db.pxi"

__version__ = f'{miodb_major_version()}.{miodb_minor_version()}'
__leveldb_version__ = f'{leveldb_major_version()}.{leveldb_minor_version()}'
