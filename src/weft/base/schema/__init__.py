"""The schema of files: blocks of typed fields, checked by pydantic, with file and line in errors.

Read ``block`` first: pydantic reads a frozen dataclass of settings (``weft.base.settings``) by
``SettingsSchema``. Annotations are translated as those of arguments are
(``weft.base.runtime_types``); ``FileTranslation`` has what files write in another form.
``quantities`` has the types of numbers with units. ``document`` reads a YAML file, checks it
against a block, and turns what pydantic reports into weft errors that name field, value,
expectation, hint, file and line.
"""
