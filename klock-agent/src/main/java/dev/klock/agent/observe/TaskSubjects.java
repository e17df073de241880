package dev.klock.agent.observe;

/** Tasks are run for the session that their submitter worked for, or that they are called for explicitly; threads begin as who started them. */
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
    protected void begin(Observer submitter, Object task, boolean called) {
        subjects.work().enterTask(submitter, task, called);
    }

    @Override
    protected void beginCalled(Object task) {
        subjects.work().enterCalled(task);
    }

    @Override
    protected void beginUncalled() {
        subjects.work().enterUncalled();
    }

    @Override
    protected void end() {
        subjects.work().leaveTask();
    }
}
