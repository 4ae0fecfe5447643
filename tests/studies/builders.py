"""What the tests of studies share."""


def quiet(_):
    """Say nothing of a study's progress."""


def rows(study):
    """The rows of a study's table, by the names of its columns."""
    return [dict(zip(study.table.columns, row)) for row in study.table.rows]


def column(study, name):
    """A column of a study's table, by the entries of the first one."""
    return {row[study.table.columns[0]]: row[name] for row in rows(study)}
