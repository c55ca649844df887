package org.miodb;

import java.nio.charset.StandardCharsets;

/** What the engine reports: a call failed. Misuse has Java's own exceptions. */
public final class MioDBException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What kind of error it is. */
  public enum Kind {
    /** What the text names is not there: a folder that a path leads through, a file of the database. */
    NOT_FOUND("NotFound: "),
    /** The system or the medium failed. */
    IO("IO error: "),
    /** There is no space left. */
    NO_SPACE("No space: "),
    /** Stored bytes are damaged. */
    CORRUPTION("Corruption: "),
    /** An option is out of its range, or the database is not what was asked for. */
    INVALID_ARGUMENT("Invalid argument: "),
    /** The database, the medium or the build cannot do this. */
    NOT_SUPPORTED("Not implemented: "),
    /** Another one. */
    OTHER("");

    private final String beginning;

    Kind(String beginning) {
      this.beginning = beginning;
    }
  }

  private final Kind kind;

  private MioDBException(Kind kind, String text) {
    super(text);
    this.kind = kind;
  }

  /** What kind of error it is. */
  public Kind kind() {
    return kind;
  }

  /** The exception of an error's text; the C API has no codes. Called by the native library. */
  static MioDBException of(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    for (Kind kind : Kind.values()) {
      if (text.startsWith(kind.beginning)) {
        return new MioDBException(kind, text);
      }
    }
    throw new AssertionError("every text begins with nothing");
  }
}
