"""`python -m schedules.supervisor.prepare`: what the supervisor does before the first process, for
deployments without it: folders, Dagster's files, the warehouse brought up to the declarations."""

import sys

from core.errors import PlatformError
from resources.backup.journal import refuse_half_restored
from resources.settings import process_settings
from schedules.supervisor import checks, folders, migrate


def main() -> int:
    try:
        settings = process_settings()
        checks.check_folder(settings.data_path)
        refuse_half_restored(settings.data_path)
        checks.check_postgres(settings.dagster_postgres_url)
        checks.check_broker(settings)
        folders.make_folders(settings.data_path)
        folders.write_dagster_home(settings.data_path, postgres=bool(settings.dagster_postgres_url))
    except PlatformError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    return migrate.main()


if __name__ == "__main__":
    sys.exit(main())
