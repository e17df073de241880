package dev.klock.agent.observe;

/** Tasks are run for the session that their submitter worked for; threads begin as who started them. */
public final class TaskSubjects extends CarriedTasks<Observer> implements Subjects.Begun {
    private final Subjects subjects;

    /** From here on threads that begin do so by this. */
    public TaskSubjects(Subjects subjects) {
        this.subjects = subjects;
        subjects.beginBy(this);
    }

    @Override
    protected Observer subject() {
        return subjects.work().subject;
    }

    @Override
    protected void begin(Observer subject) {
        subjects.work().enterTask(subject);
    }

    @Override
    protected void end() {
        subjects.work().leaveTask();
    }
}
