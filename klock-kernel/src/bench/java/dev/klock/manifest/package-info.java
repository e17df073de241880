/** What the decision about one access costs. */
package dev.klock.manifest;
