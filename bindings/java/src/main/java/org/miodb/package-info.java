/**
 * MioDB, a key-value store for persistent memory, from Java. {@link org.miodb.DB} is where to begin; {@code docs/bindings.md}
 * in MioDB's sources tells how to install it, lifetimes, threads, and what a crash leaves.
 */
package org.miodb;
