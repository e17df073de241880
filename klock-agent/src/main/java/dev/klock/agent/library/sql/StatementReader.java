package dev.klock.agent.library.sql;

import dev.klock.kernel.Predicate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import net.sf.jsqlparser.expression.operators.relational.InExpression;
import net.sf.jsqlparser.schema.Column;
import net.sf.jsqlparser.schema.Sequence;
import net.sf.jsqlparser.schema.Table;
import net.sf.jsqlparser.statement.Commit;
import net.sf.jsqlparser.statement.DescribeStatement;
import net.sf.jsqlparser.statement.ExplainStatement;
import net.sf.jsqlparser.statement.ParenthesedStatement;
import net.sf.jsqlparser.statement.RollbackStatement;
import net.sf.jsqlparser.statement.SavepointStatement;
import net.sf.jsqlparser.statement.ShowColumnsStatement;
import net.sf.jsqlparser.statement.Statement;
import net.sf.jsqlparser.statement.StatementVisitor;
import net.sf.jsqlparser.statement.alter.Alter;
import net.sf.jsqlparser.statement.alter.AlterExpression;
import net.sf.jsqlparser.statement.alter.AlterOperation;
import net.sf.jsqlparser.statement.alter.RenameTableStatement;
import net.sf.jsqlparser.statement.alter.sequence.AlterSequence;
import net.sf.jsqlparser.statement.analyze.Analyze;
import net.sf.jsqlparser.statement.comment.Comment;
import net.sf.jsqlparser.statement.create.index.CreateIndex;
import net.sf.jsqlparser.statement.create.schema.CreateSchema;
import net.sf.jsqlparser.statement.create.sequence.CreateSequence;
import net.sf.jsqlparser.statement.create.table.CreateTable;
import net.sf.jsqlparser.statement.create.view.AlterView;
import net.sf.jsqlparser.statement.create.view.CreateView;
import net.sf.jsqlparser.statement.delete.Delete;
import net.sf.jsqlparser.statement.delete.ParenthesedDelete;
import net.sf.jsqlparser.statement.drop.Drop;
import net.sf.jsqlparser.statement.insert.Insert;
import net.sf.jsqlparser.statement.insert.OracleMultiInsertBranch;
import net.sf.jsqlparser.statement.insert.OracleMultiInsertClause;
import net.sf.jsqlparser.statement.insert.ParenthesedInsert;
import net.sf.jsqlparser.statement.merge.Merge;
import net.sf.jsqlparser.statement.refresh.RefreshMaterializedViewStatement;
import net.sf.jsqlparser.statement.select.FromItem;
import net.sf.jsqlparser.statement.select.Join;
import net.sf.jsqlparser.statement.select.ParenthesedSelect;
import net.sf.jsqlparser.statement.select.PlainSelect;
import net.sf.jsqlparser.statement.select.Select;
import net.sf.jsqlparser.statement.select.SetOperationList;
import net.sf.jsqlparser.statement.select.TableStatement;
import net.sf.jsqlparser.statement.select.WithItem;
import net.sf.jsqlparser.statement.show.ShowIndexStatement;
import net.sf.jsqlparser.statement.show.ShowTablesStatement;
import net.sf.jsqlparser.statement.truncate.Truncate;
import net.sf.jsqlparser.statement.update.ParenthesedUpdate;
import net.sf.jsqlparser.statement.update.Update;
import net.sf.jsqlparser.statement.upsert.Upsert;
import net.sf.jsqlparser.util.TablesNamesFinder;

/**
 * One statement's triples.
 *
 * <p>The visitor that it extends reaches every table that a statement names, wherever it stands; what is added is what is done to it, and
 * which names are none of the database's: those of common table expressions, in their scope only. A row is not the table: DELETE is MUTATES,
 * and so is whatever else changes what a table holds or how.
 */
final class StatementReader extends TablesNamesFinder<Void> {
    /** Tables that hold nothing. */
    private static final Set<String> EMPTY = Set.of("dual", "sys.dual", "sysibm.sysdummy1");
    private static final Set<String> BEFORE_TABLE = Set.of("temp", "temporary", "global", "local", "cached", "memory");
    private static final Set<String> BEHIND_TABLE = Set.of("engine", "=", "innodb", "myisam", "memory", "aria", "default", "charset", "character", "set", "collate", "binary", "comment",
            "auto_increment", "row_format", "dynamic", "compact", "compressed", "on", "commit", "delete", "drop", "preserve", "rows", "transactional", "not", "persistent");
    private static final Set<AlterOperation> KNOWN_CHANGES = EnumSet.of(AlterOperation.ADD, AlterOperation.ALTER, AlterOperation.DROP, AlterOperation.DROP_PRIMARY_KEY,
            AlterOperation.DROP_UNIQUE, AlterOperation.DROP_FOREIGN_KEY, AlterOperation.MODIFY, AlterOperation.CHANGE, AlterOperation.CONVERT, AlterOperation.COLLATE,
            AlterOperation.ALGORITHM, AlterOperation.RENAME, AlterOperation.RENAME_TABLE, AlterOperation.RENAME_INDEX, AlterOperation.RENAME_KEY, AlterOperation.RENAME_CONSTRAINT,
            AlterOperation.COMMENT, AlterOperation.COMMENT_WITH_EQUAL_SIGN, AlterOperation.LOCK, AlterOperation.DISABLE_KEYS, AlterOperation.ENABLE_KEYS);
    private static final Set<String> KEYWORDS = Set.of("table", "values", "select", "final", "new", "old", "only", "lateral", "unnest");

    private final List<SqlTriple> acts = new ArrayList<>();
    private final Set<String> reads = new LinkedHashSet<>();
    /** Names that WITH gives, where a table of that name comes first. */
    private final Set<String> shadowed = new LinkedHashSet<>();
    private final Dialect dialect;
    private final Set<PlainSelect> selects = Collections.newSetFromMap(new IdentityHashMap<>());
    /** The names that WITH gives, the innermost first. */
    private final Deque<Set<String>> names = new ArrayDeque<>();

    StatementReader(Dialect dialect) {
        this.dialect = dialect;
        init(false);
    }

    List<SqlTriple> triples() {
        List<SqlTriple> all = new ArrayList<>(acts);
        for (String table : reads) {
            if (!all.contains(SqlTriple.of(Predicate.MUTATES, table))) {
                all.add(SqlTriple.of(Predicate.CONSUMES, table));
            }
        }
        for (String name : shadowed) {
            if (!reads.contains(name)) {
                all.add(new SqlTriple(Predicate.CONSUMES, name, false, true));
            }
        }
        return all;
    }

    /** How many SELECTs the visitor has reached. */
    int selects() {
        return selects.size();
    }

    /** Whether the word TABLE says in {@code statement}, once, what it is about. */
    static boolean isOfATable(Statement statement) {
        return statement instanceof CreateTable || statement instanceof Alter || statement instanceof Drop || statement instanceof Truncate
                || statement instanceof RenameTableStatement || statement instanceof Comment || statement instanceof Analyze || statement instanceof TableStatement;
    }

    void read(Statement statement) {
        if (statement instanceof Select || statement instanceof Insert || statement instanceof Update || statement instanceof Delete
                || statement instanceof Merge || statement instanceof Upsert) {
            statement.accept((StatementVisitor<Void>) this, null);
        } else if (statement instanceof CreateTable) {
            create((CreateTable) statement);
        } else if (statement instanceof CreateView) {
            CreateView view = (CreateView) statement;
            act(Predicate.PROVIDES, view.getView());
            if (view.isOrReplace()) {
                act(Predicate.MUTATES, view.getView());
            }
            query(view.getSelect());
        } else if (statement instanceof AlterView) {
            act(Predicate.MUTATES, ((AlterView) statement).getView());
            query(((AlterView) statement).getSelect());
        } else if (statement instanceof CreateSequence) {
            act(Predicate.PROVIDES, name(((CreateSequence) statement).getSequence()));
        } else if (statement instanceof AlterSequence) {
            act(Predicate.MUTATES, name(((AlterSequence) statement).getSequence()));
        } else if (statement instanceof CreateSchema && isPlain((CreateSchema) statement)) {
            act(Predicate.PROVIDES, SqlReader.canonical(List.of(((CreateSchema) statement).getSchemaName())));
        } else if (statement instanceof Drop) {
            drop((Drop) statement);
        } else if (statement instanceof Alter) {
            alter((Alter) statement);
        } else if (statement instanceof RenameTableStatement) {
            for (Map.Entry<Table, Table> one : ((RenameTableStatement) statement).getTableNames()) {
                act(Predicate.RENAMES, one.getKey());
                act(Predicate.PROVIDES, one.getValue());
            }
        } else if (statement instanceof Truncate) {
            Truncate truncate = (Truncate) statement;
            all(truncate.getTables(), truncate.getTable());
        } else if (statement instanceof CreateIndex) {
            act(Predicate.MUTATES, ((CreateIndex) statement).getTable());
        } else if (statement instanceof Analyze) {
            Analyze analyze = (Analyze) statement;
            all(analyze.getTables(), analyze.getTable());
        } else if (statement instanceof RefreshMaterializedViewStatement) {
            act(Predicate.MUTATES, ((RefreshMaterializedViewStatement) statement).getView());
        } else if (statement instanceof Comment) {
            Comment comment = (Comment) statement;
            act(Predicate.MUTATES, comment.getTable() != null ? comment.getTable() : comment.getView() != null ? comment.getView()
                    : comment.getColumn().getTable());
        } else {
            readLess(statement);
        }
    }

    /** What changes nothing, or is not understood. */
    private void readLess(Statement statement) {
        if (statement instanceof ExplainStatement) {
            // some databases carry out what they explain
            ExplainStatement explain = (ExplainStatement) statement;
            if (explain.getStatement() != null) {
                read(explain.getStatement());
            } else {
                reads.add(name(explain.getTable()));
            }
        } else if (statement instanceof DescribeStatement) {
            reads.add(name(((DescribeStatement) statement).getTable()));
        } else if (statement instanceof ShowTablesStatement || statement instanceof ShowColumnsStatement || statement instanceof ShowIndexStatement) {
            acts.add(SqlTriple.whole(Predicate.CONSUMES));
        } else if (!(statement instanceof Commit || statement instanceof RollbackStatement || statement instanceof SavepointStatement)) {
            opaque();
        }
    }

    private static boolean isPlain(CreateSchema schema) {
        return schema.getSchemaName() != null && (schema.getStatements() == null || schema.getStatements().isEmpty());
    }

    private void create(CreateTable create) {
        if (!isAmong(create.getCreateOptionsStrings(), BEFORE_TABLE) || !isAmong(create.getTableOptionsStrings(), BEHIND_TABLE) || create.getOfType() != null) {
            // linked, foreign, virtual, cloned, inheriting: what is in it may be another table's
            opaque();
            return;
        }
        String table = name(create.getTable());
        acts.add(new SqlTriple(Predicate.PROVIDES, table, !create.isIfNotExists() && !create.isOrReplace(), false));
        if (create.isOrReplace()) {
            act(Predicate.MUTATES, table);
        }
        if (create.getPartitionOf() != null) {
            act(Predicate.MUTATES, create.getPartitionOf());
        }
        if (create.getLikeTable() != null) {
            reads.add(name(create.getLikeTable()));
        }
        if (create.getTrailingLikeTable() != null) {
            reads.add(name(create.getTrailingLikeTable()));
        }
        query(create.getSelect());
    }

    private static boolean isAmong(List<String> words, Set<String> known) {
        for (int i = 0; words != null && i < words.size(); i++) {
            String word = words.get(i).toLowerCase(Locale.ROOT);
            boolean value = word.startsWith("'") || Character.isDigit(word.charAt(0)) || word.startsWith("utf8") || word.startsWith("latin");
            if (!value && !known.contains(word)) {
                return false;
            }
        }
        return true;
    }

    private void drop(Drop drop) {
        Drop.ObjectType type = drop.getObjectType();
        boolean one = type == Drop.ObjectType.TABLE || type == Drop.ObjectType.VIEW || type == Drop.ObjectType.SEQUENCE || type == Drop.ObjectType.INDEX;
        if (!one) {
            // a schema goes with all that is in it; and what else may be dropped is not asked for by name
            acts.add(SqlTriple.whole(Predicate.DELETES));
            return;
        }
        List<Table> tables = drop.getNames() == null || drop.getNames().isEmpty() ? List.of(drop.getName()) : drop.getNames();
        for (int i = 0; i < tables.size(); i++) {
            act(Predicate.DELETES, tables.get(i));
        }
    }

    private void alter(Alter alter) {
        boolean onlyRenames = true;
        for (AlterExpression change : alter.getAlterExpressions()) {
            boolean renames = change.getOperation() == AlterOperation.RENAME_TABLE;
            onlyRenames &= renames;
            if (renames) {
                act(Predicate.RENAMES, alter.getTable());
                act(Predicate.PROVIDES, beside(alter.getTable(), change.getNewTableName()));
            }
            if (!KNOWN_CHANGES.contains(change.getOperation())) {
                // it may be another table that changes, or becomes part of this one
                opaque();
            }
        }
        if (!onlyRenames) {
            act(Predicate.MUTATES, alter.getTable());
        }
    }

    /** A new name alone stays in the schema of the old one. */
    private static String beside(Table old, String newName) {
        String table = name(old);
        String other = name(new Table(newName));
        int dot = table.lastIndexOf('.');
        return dot < 0 || other.indexOf('.') >= 0 ? other : table.substring(0, dot + 1).concat(other);
    }

    private void query(Select select) {
        if (select != null) {
            select.accept((StatementVisitor<Void>) this, null);
        }
    }

    private void all(List<Table> tables, Table otherwise) {
        if (tables == null || tables.isEmpty()) {
            act(Predicate.MUTATES, otherwise);
            return;
        }
        for (int i = 0; i < tables.size(); i++) {
            act(Predicate.MUTATES, tables.get(i));
        }
    }

    private void opaque() {
        acts.add(SqlTriple.whole(Predicate.MUTATES));
    }

    private void act(Predicate predicate, Table table) {
        act(predicate, name(table));
    }

    private void act(Predicate predicate, String table) {
        if (table.isEmpty()) {
            throw new IllegalArgumentException("a table without a name");
        }
        if (isNamedByWith(table)) {
            // what that name stands for is changed
            opaque();
        }
        SqlTriple triple = SqlTriple.of(predicate, table);
        if (!acts.contains(triple)) {
            acts.add(triple);
        }
    }

    // ---- what stands anywhere in a statement

    @Override
    public <S> Void visit(Table table, S context) {
        super.visit(table, context);
        String name = name(table);
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a table without a name");
        }
        if (isKeyword(table)) {
            throw new IllegalArgumentException("the parser takes a keyword for a table's name");
        }
        if (isNamedByWith(name)) {
            if (dialect == Dialect.H2) {
                shadowed.add(name);
            }
        } else if (!EMPTY.contains(name)) {
            reads.add(name);
        }
        return null;
    }

    /** Before what stands behind them is visited, and then again by the visitor, in its own order. */
    private <S> void open(List<WithItem<?>> items, S context) {
        names.push(new HashSet<>());
        for (WithItem<?> item : items == null ? List.<WithItem<?>>of() : items) {
            visit(item, context);
        }
    }

    @Override
    public <S> Void visit(Select select, S context) {
        open(select.getWithItemsList(), context);
        super.visit(select, context);
        names.pop();
        return null;
    }

    @Override
    public <S> Void visit(Insert insert, S context) {
        open(insert.getWithItemsList(), context);
        if (insert.isOracleMultiInsert()) {
            for (OracleMultiInsertBranch branch : insert.getOracleMultiInsertBranches()) {
                for (OracleMultiInsertClause clause : branch.getClauses()) {
                    act(Predicate.MUTATES, clause.getTable());
                }
            }
        } else {
            act(Predicate.MUTATES, insert.getTable());
        }
        super.visit(insert, context);
        names.pop();
        return null;
    }

    @Override
    public <S> Void visit(ParenthesedInsert insert, S context) {
        return visit(insert.getInsert(), context);
    }

    @Override
    public <S> Void visit(Update update, S context) {
        open(update.getWithItemsList(), context);
        String target = dialect.hasAliasesAsTargets() ? named(update.getTable(), update.getFromItem(), update.getJoins(), update.getStartJoins())
                : name(update.getTable());
        act(Predicate.MUTATES, target);
        // MySQL: any of the tables joined before SET may be the one that is set
        for (Join join : some(update.getStartJoins())) {
            if (join.getFromItem() instanceof Table) {
                act(Predicate.MUTATES, (Table) join.getFromItem());
            }
        }
        super.visit(update, context);
        if (!target.equals(name(update.getTable()))) {
            // an alias, which the visitor takes for a table
            reads.remove(name(update.getTable()));
        }
        names.pop();
        return null;
    }

    @Override
    public <S> Void visit(ParenthesedUpdate update, S context) {
        return visit(update.getUpdate(), context);
    }

    @Override
    public <S> Void visit(Delete delete, S context) {
        open(delete.getWithItemsList(), context);
        List<Table> targets = delete.getTables();
        if (targets == null || targets.isEmpty()) {
            act(Predicate.MUTATES, target(delete.getTable(), null, delete));
        } else {
            for (Table target : targets) {
                act(Predicate.MUTATES, target(target, delete.getTable(), delete));
            }
        }
        super.visit(delete, context);
        // a target may be an alias, which the visitor takes for a table
        for (Table target : targets == null ? List.<Table>of() : targets) {
            if (!target(target, delete.getTable(), delete).equals(name(target))) {
                reads.remove(name(target));
            }
        }
        names.pop();
        return null;
    }

    private String target(Table target, Table from, Delete delete) {
        return dialect.hasAliasesAsTargets() ? named(target, from, delete.getJoins(), null) : name(target);
    }

    @Override
    public <S> Void visit(ParenthesedDelete delete, S context) {
        return visit(delete.getDelete(), context);
    }

    @Override
    public <S> Void visit(Merge merge, S context) {
        open(merge.getWithItemsList(), context);
        act(Predicate.MUTATES, merge.getTable());
        super.visit(merge, context);
        names.pop();
        return null;
    }

    @Override
    public <S> Void visit(Upsert upsert, S context) {
        act(Predicate.MUTATES, upsert.getTable());
        super.visit(upsert, context);
        return null;
    }

    @Override
    public <S> Void visit(PlainSelect select, S context) {
        open(select.getWithItemsList(), context);
        selects.add(select);
        Set<String> made = new HashSet<>();
        for (Table into : select.getIntoTables() == null ? List.<Table>of() : select.getIntoTables()) {
            act(Predicate.PROVIDES, into);
            made.add(name(into));
        }
        if (select.getIntoTempTable() != null) {
            act(Predicate.PROVIDES, select.getIntoTempTable());
            made.add(name(select.getIntoTempTable()));
        }
        made.removeAll(reads);
        if (select.getMySqlSelectIntoClause() != null) {
            opaque();
        }
        super.visit(select, context);
        reads.removeAll(made);
        names.pop();
        return null;
    }

    @Override
    public <S> Void visit(SetOperationList list, S context) {
        open(list.getWithItemsList(), context);
        super.visit(list, context);
        names.pop();
        return null;
    }

    @Override
    public <S> Void visit(ParenthesedSelect select, S context) {
        open(select.getWithItemsList(), context);
        super.visit(select, context);
        names.pop();
        return null;
    }

    /** The name is seen behind it, and in it only if it says that it is recursive: before, it is a table's. */
    @Override
    public <S> Void visit(WithItem<?> item, S context) {
        String name = SqlReader.canonical(Collections.singletonList(item.getAlias().getName()));
        Set<String> scope = names.peek();
        if (scope == null) {
            throw new IllegalStateException("WITH where none can be");
        }
        if (item.isRecursive()) {
            scope.add(name);
        }
        ParenthesedStatement body = item.getParenthesedStatement();
        if (body == null) {
            throw new IllegalStateException("WITH without a statement");
        }
        if (body instanceof ParenthesedInsert) {
            visit((ParenthesedInsert) body, context);
        } else if (body instanceof ParenthesedUpdate) {
            visit((ParenthesedUpdate) body, context);
        } else if (body instanceof ParenthesedDelete) {
            visit((ParenthesedDelete) body, context);
        } else if (body instanceof ParenthesedSelect) {
            visit((ParenthesedSelect) body, context);
        } else {
            throw new IllegalStateException("WITH of an unknown kind");
        }
        scope.add(name);
        return null;
    }

    private boolean isNamedByWith(String name) {
        for (Set<String> scope : names) {
            if (scope.contains(name)) {
                return true;
            }
        }
        return false;
    }

    /** SQLite takes a name behind IN for a table, where the parser sees a column. */
    @Override
    public <S> Void visit(InExpression in, S context) {
        if (in.getRightExpression() instanceof Column) {
            Column column = (Column) in.getRightExpression();
            List<String> parts = new ArrayList<>();
            if (column.getTable() != null) {
                parts.addAll(column.getTable().getNameParts());
                Collections.reverse(parts);
            }
            parts.add(column.getColumnName());
            reads.add(SqlReader.canonical(parts));
        }
        return super.visit(in, context);
    }

    // ---- names

    /** {@code (TABLE t)}, {@code FINAL TABLE (...)}: names without quotes that are none. */
    private static boolean isKeyword(Table table) {
        String name = table.getName();
        return name != null && KEYWORDS.contains(name.toLowerCase(Locale.ROOT));
    }

    /** The table that {@code target} is or, if it is an alias in what follows, stands for. */
    private static String named(Table target, FromItem from, List<Join> joins, List<Join> more) {
        String name = name(target);
        String found = aliased(name, from);
        for (Join join : some(joins)) {
            found = found == null ? aliased(name, join.getFromItem()) : found;
        }
        for (Join join : some(more)) {
            found = found == null ? aliased(name, join.getFromItem()) : found;
        }
        return found == null ? name : found;
    }

    private static String aliased(String name, FromItem item) {
        boolean is = item instanceof Table && item.getAlias() != null
                && SqlReader.canonical(Collections.singletonList(item.getAlias().getName())).equals(name);
        return is ? name((Table) item) : null;
    }

    private static List<Join> some(List<Join> joins) {
        return joins == null ? List.of() : joins;
    }

    private static String name(Table table) {
        List<String> parts = new ArrayList<>(table.getNameParts());
        Collections.reverse(parts);
        return SqlReader.canonical(parts);
    }

    private static String name(Sequence sequence) {
        List<String> parts = new ArrayList<>();
        if (sequence.getSchemaName() != null) {
            parts.add(sequence.getSchemaName());
        }
        parts.add(sequence.getName());
        return SqlReader.canonical(parts);
    }
}
