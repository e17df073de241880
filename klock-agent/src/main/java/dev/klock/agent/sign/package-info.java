/** Signed manifests: who vouches for one is told by a key that lies where its writer cannot reach (K1-17). */
package dev.klock.agent.sign;
