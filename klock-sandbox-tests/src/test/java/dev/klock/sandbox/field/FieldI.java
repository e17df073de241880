package dev.klock.sandbox.field;

/** I: what agents take from each other. Who holds what is no access: each case is a test of its own, with child JVMs where it speaks of processes. */
final class FieldI {
    private FieldI() {
    }

    static void cases(Cases c) {
        c.of("I01", "C", "a holder that was stopped until its lease was another's").as("its next change is refused")
                .provenBy("SharedHomeTest.holder_stoppedUntilItsLeaseIsAnothers_changesNothingMoreAndEndsWith109");
        c.of("I02", "H", "a lease that lapses with nobody told").as("said at the next operation; exit 109, or that agent's session ends")
                .provenBy("SharedHomeTest.holder_stoppedUntilItsLeaseIsAnothers_changesNothingMoreAndEndsWith109", "AgentsTest.agent_thatHasLostItsLeases_keepsWhatItDid_andComesBack");
        c.of("I03", "H", "wall clocks that differ, or are set").as("leases go by the machine's monotonic clock")
                .provenBy("SharedKernelTest.wallClocks_thatAreHoursApart_endNoLeaseEarly_andLetNoneLast");
        c.of("I04", "H", "a process number that was given anew").as("means nothing: who is there holds a lock of the system's")
                .provenBy("GoneTest.leaseOfAProcessThatWasKilled_isFreeAtOnceForAYoungerOne_onceItsWorkIsUndone", "GoneTest.processThatHadTheNumberOfThisOne_isGoneOnceItHasEnded",
                        "ContainerTest.program_thatWasKilled_isRolledBackByTheNextContainer_whosePidIsTheSame");
        c.of("I05", "H", "a holder that is killed").as("undone, then the next one has it")
                .provenBy("SharedHomeTest.holder_thatIsKilled_isUndoneBeforeTheNextOneHasItsFiles", "AgentsTest.killedProgram_isUndoneForAllItsAgents");
        c.of("I06", "H", "one that was declared dead asks again under its old name").as("refused until it registers anew")
                .provenBy("AgentsTest.agent_thatHasLostItsLeases_keepsWhatItDid_andComesBack", "EmbeddedKernelTest.handle_whoseKeyWasRegisteredAgainByACommand_isRefusedAtOnceAndStaysWhatItWas");
        c.of("I08", "C", "a directory, what is in it, and what it is in").as("all conflict")
                .provenBy("SharedHomeTest.directory_andWhatIsInIt_andWhatItIsIn_areTheSameThingToLeases");
        c.of("I09", "H", "who waits, who dies, and as what it comes back").as("older waits, younger dies and stays as old as it was")
                .provenBy("SharedHomeTest.agent_thatDied_comesBackAsOldAsItWas_andWaitsForAYoungerOne", "FairnessTest.retry_withTheFirstTimestamp_getsInUnderAdversarialArrival");
        c.of("I10", "H", "two that read, and both want to write").as("one dies, the other gets it; one's own lease is in nobody's way")
                .provenBy("KlockTest.upgrade_ofTwoThatRead_endsForOneWithDie_andForTheOtherWithTheLease");
        c.of("I11", "H", "a stranger renews, or gives back").as("refused")
                .provenBy("LeaseRulesTest.heartbeat_expiredOrReleasedOrStrangersLease_isRefused", "LeaseRulesTest.release_byItsOwner_freesIt_andByNobodyElse");
        c.of("I13", "C", "one whose session is ended goes on writing").as("its next change is refused, and its leases go once all is undone")
                .provenBy("AgentsTest.agent_thatItsProgramAborts_isUndone_andWhatItHeldIsFree", "EnforcementTest.retry_thatDiesWithWhatItHeldStill_isUndoneBeforeTheNextAttempt");
        c.of("I14", "C", "a lease that is free before the rollback is done").as("never")
                .provenBy("SharedHomeTest.older_thatWaitsForAYoungerOneWhichStrays_findsItsFilesAsTheyWereBefore",
                        "AgentsTest.sessionThatIsClosedRightAfterItsViolation_keepsItsLeasesUntilAllIsUndone");
        c.of("I15", "M", "heartbeats that outlive the worker").as("they go by the session's health")
                .provenBy("EmbeddedKernelTest.heartbeat_sessionNoLongerHealthy_losesItsLeaseAndIsTold");
        c.of("I16", "C", "what tells who holds what is garbled, gone, or of another version").as("nobody changes anything")
                .provenBy("SharedHomeTest.kernel_thatIsGarbledOrGone_letsNobodyChangeAnything", "SharedKernelTest.otherVersion_isRefused",
                        "ExhaustedTest.error_thatComesOutOfACommand_endsTheKernelForAll_andLeavesNobodyWaiting");
        c.of("I17", "M", "two sessions in one JVM").as("one dies, as between JVMs").provenBy("AgentsTest.agents_thatDeclareTheSame_haveItOneAfterTheOther");
        c.of("I18", "H", "sets that overlap, taken in different orders").as("all or nothing, no deadlock")
                .provenBy("KilledWritersTest.filesOfWritersThatAreKilled_haveEachNumberOnce", "SoakTest.files_thatManyChangeWhileSomeAreKilledOrStopped_loseNoRecord");
        c.of("I19", "M", "two worktrees of one repository").as("apart").provenBy("SharedHomeTest.worktrees_ofOneRepository_areApart");
    }
}
