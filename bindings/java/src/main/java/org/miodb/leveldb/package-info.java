/** MioDB under the interface {@code org.iq80.leveldb}, for programs written for leveldbjni or the port of LevelDB to Java. */
package org.miodb.leveldb;
