/** Reads what an upgrade to this program meets. Changes nothing. */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { ownVersion } from '../../settings/index.ts'
import type { Settings } from '../../settings/index.ts'
import { oldestOfSteps as oldestInCassandra, readKeyspaces } from '../../store/cassandra/index.ts'
import { oldestOfSteps, readSchema } from '../../store/embedded/index.ts'
import { connectionOptions } from '../backends/cassandra-connection.ts'
import { openClusterOperator } from '../operator/cluster-operator.ts'
import type { Finding } from './checks.ts'
import { consultDoctor } from './doctor.ts'
import { examineUpgrade } from './upgrade.ts'

/**
 * Checks of the machine that matter for an upgrade: room for the new tables, and an owner for each
 * shard.
 */
const needed = ['disk space', 'store', 'shards', 'replication', 'backup']

/**
 * Findings about an upgrade of the store in these settings. Throws HeddleError if it cannot be
 * read.
 */
export async function consultUpgrade(settings: Settings, env: Env): Promise<readonly Finding[]> {
  const { cassandra, dataDirectory: directory } = settings
  const version = ownVersion()
  const machine = (await consultDoctor(settings, env)).filter(({ check }) => needed.includes(check))
  if (cassandra === null) {
    const schema = readSchema(directory)
    if (schema === undefined) {
      throw new HeddleError('not_found', `There is no data in ${directory} to upgrade.`)
    }
    const own = examineUpgrade({ version, schema, running: [],
      oldestAfter: Math.max(schema.oldest, oldestOfSteps(schema.newest)) })
    return [...own, ...machine]
  }
  const { schema } = await readKeyspaces({ ...connectionOptions(cassandra), env })
  const operator = await openClusterOperator(cassandra, env)
  try {
    const members = await operator.list()
    const own = examineUpgrade({ version, schema, running: members.map(({ details }) => details),
      oldestAfter: Math.max(schema.oldest, oldestInCassandra(schema.newest)) })
    return [...own, ...machine]
  } finally {
    await operator.close()
  }
}
