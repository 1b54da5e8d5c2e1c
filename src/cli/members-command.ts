/** The command `heddle members`: lists the members of a cluster, and ends one of them in order. */

import { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { openClusterOperator } from '../server/operator/cluster-operator.ts'
import type { ClusterOperator, ListedMember } from '../server/operator/cluster-operator.ts'
import { clusterSettings, CommandError, runCommand, settingsOfPlace } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'
import { tableOf } from './table.ts'

/** Lists members, or drains one. Throws CommandError. */
export function runMembersCommand(source: CommandSource): Promise<void> {
  const command = new Command('heddle members')
    .description('Lists the members of a cluster, and drains them.')
  const asking = async (subcommand: Command,
    work: (operator: ClusterOperator) => Promise<string>) => {
    const { cassandra } = settingsOfPlace(source, subcommand, clusterSettings)
    if (cassandra === null) {
      throw new CommandError('A data directory has one server: only --store cassandra has members.',
        'refused')
    }
    const operator = await openClusterOperator(cassandra, systemEnv({ level: 'error' }))
    try {
      source.print(await work(operator))
    } finally {
      await operator.close()
    }
  }
  command.command('list', { isDefault: true }).description('Lists the members that are up.')
    .action(({ json }: TypedFormat, subcommand: Command) =>
      asking(subcommand, async (operator) => {
        const members = await operator.list()
        return json ? `${JSON.stringify(members)}\n` : textOf(members)
      })
    )
  command.command('drain <id>')
    .description(
      'Ends a member in order, like SIGTERM on its machine: its runs go on elsewhere. The ' +
        'beginning of an id is enough.',
    )
    .action((id: string, { json }: TypedFormat, subcommand: Command) =>
      asking(subcommand, async (operator) => {
        const member = await operator.drain(id)
        return json
          ? `${JSON.stringify(member)}\n`
          : `The member ${member.id} at ${member.address} gives its ${member.shards} shards back ` +
            'and ends.\n'
      })
    )
  return runCommand(command, source, 'say what about the members: list or drain', clusterSettings)
}

function textOf(members: readonly ListedMember[]): string {
  if (members.length === 0) return 'No member is up.\n'
  return tableOf([['id', 'address', 'version', 'tables', 'shards', 'runs', ''],
    ...members.map((member) => [
      member.id,
      member.address,
      member.details?.version ?? 'no answer',
      `${member.details?.tables ?? ''}`,
      `${member.shards}`,
      `${member.details?.runs ?? ''}`,
      member.leaving ? 'leaving' : '',
    ])])
}
