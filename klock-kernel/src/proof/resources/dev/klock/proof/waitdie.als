-- Wait-die as klock decides it, with paths and predicates left out: triples clash or do not.
-- Agents are ordered by age, the first is the oldest. The queue is a FIFO: who waits knows who was there before.
module waitdie
open util/ordering[Agent] as age

sig Triple { clash: set Triple }

fact { clash = ~clash }

sig Agent {
  var holds: set Triple,
  var wants: set Triple,      -- the waiting manifest; empty when it does not wait
  var ahead: set Agent        -- who waited already when it began to
}

-- C42: whoever waits is judged again at every change. Off, it is only looked at to be granted.
one sig Switch { rejudges: lone Switch }

-- the manifest, or the leases, of the step that comes
one sig Step { var what: set Triple }

fun older[a: Agent]: set Agent { age/prevs[a] }

-- what of a manifest a lease of its own does not stand for already
fun uncovered[a: Agent, m: set Triple]: set Triple { m - a.holds }

pred waiting[a: Agent] { some a.wants }

fun newBlockers[a: Agent, m: set Triple]: set Agent {
  { b: Agent - a | some uncovered[a, m].clash & (b.holds + b.wants) }
}

fun blockers[a: Agent]: set Agent {
  { b: Agent - a | some uncovered[a, a.wants].clash & b.holds
                or (b in a.ahead and some uncovered[a, a.wants].clash & b.wants) }
}

pred grantable[a: Agent] { waiting[a] and no blockers[a] }
pred doomed[a: Agent] { waiting[a] and some blockers[a] & older[a] and some Switch.rejudges }
pred settled { no a: Agent | grantable[a] or doomed[a] }

pred same[them: set Agent] { all a: them | a.holds' = a.holds and a.wants' = a.wants }

pred unqueue[a: Agent] { all b: Agent | b.ahead' = b.ahead - a }

-- DIE drops everything (C43)
pred die[a: Agent] {
  no a.holds'
  no a.wants'
  same[Agent - a]
  unqueue[a]
}

pred submit[a: Agent, m: set Triple] {
  settled
  not waiting[a]
  some m
  no newBlockers[a, m] => {
    a.holds' = a.holds + m
    no a.wants'
    same[Agent - a]
    ahead' = ahead
  } else newBlockers[a, m] in Agent - older[a] => {
    a.holds' = a.holds
    a.wants' = m
    same[Agent - a]
    a.ahead' = { b: Agent - a | waiting[b] }
    all b: Agent - a | b.ahead' = b.ahead
  } else die[a]
}

-- by itself, or because it ran out
pred release[a: Agent, m: set Triple] {
  settled
  some m
  m in a.holds
  a.holds' = a.holds - m
  a.wants' = a.wants
  same[Agent - a]
  ahead' = ahead
}

-- the first in the queue of those whose verdict has changed
pred judge[a: Agent] {
  grantable[a] or doomed[a]
  no b: a.ahead | grantable[b] or doomed[b]
  grantable[a] => {
    a.holds' = a.holds + a.wants
    no a.wants'
    same[Agent - a]
    unqueue[a]
  } else die[a]
}

pred rest { settled and holds' = holds and wants' = wants and ahead' = ahead }

fact behaviour {
  no holds and no wants and no ahead
  always (rest
    or (some a: Agent | submit[a, Step.what] or release[a, Step.what])
    or (some a: Agent | judge[a]))
}

fun waitsFor: Agent -> Agent { { a, b: Agent | waiting[a] and b in blockers[a] } }

pred on { some Switch.rejudges }

assert exclusive { on implies always no disj a, b: Agent | some a.holds.clash & b.holds }
assert oldToYoung { on implies always (settled implies all a: Agent | no blockers[a] & older[a]) }
assert acyclic { on implies always (settled implies no a: Agent | a in a.^waitsFor) }
-- a manifest that waited is granted as a whole, or nothing is left of it
assert wholeOrNothing {
  on implies always all a: Agent |
    (waiting[a] and a.wants' != a.wants) implies (a.wants in a.holds' or no a.holds')
}
assert oldestNeverDies { on implies always not doomed[age/first] }

assert acyclicWithoutRejudging { no Switch.rejudges implies always (settled implies no a: Agent | a in a.^waitsFor) }

run everyVerdict {
  on
  eventually some a: Agent | waiting[a] and eventually doomed[a]
  eventually some a: Agent | waiting[a] and eventually grantable[a]
} for 3 Agent, 4 Triple, 9 steps

check exclusive for 3 Agent, 4 Triple, 8 steps
check oldToYoung for 3 Agent, 4 Triple, 8 steps
check acyclic for 3 Agent, 4 Triple, 8 steps
check wholeOrNothing for 3 Agent, 3 Triple, 7 steps
check oldestNeverDies for 3 Agent, 4 Triple, 8 steps
check acyclicWithoutRejudging for 3 Agent, 4 Triple, 9 steps
