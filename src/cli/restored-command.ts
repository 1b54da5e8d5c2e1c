/** The command `heddle restored`: makes a cluster usable after its snapshots were restored. */

import { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { restoredCluster } from '../server/operator/restored-cluster.ts'
import { clusterSettings, CommandError, runCommand, settingsOfPlace } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'
import { stoppedText } from './stopped-text.ts'

/** Fences what was, and stops what was unfinished. Throws CommandError. */
export function runRestoredCommand(source: CommandSource): Promise<void> {
  let resumes = false
  const command = new Command('heddle restored')
    .description(
      'Makes a cluster usable whose keyspaces were restored from snapshots. All members must ' +
        'have ended. It fences all sessions, lifts the epochs of all shards, and stops runs, ' +
        'webhooks, crons, rules and experiments, which may have had their effects after the ' +
        'snapshot.',
    )
    .option('--go-on', 'Let the members continue the unfinished work.')
    .action(async ({ json }: TypedFormat) => {
      const { cassandra: settings, inRegion, region } = settingsOfPlace(source, command,
        clusterSettings)
      if (settings === null) {
        throw new CommandError('A data directory needs no more than "heddle restore".', 'refused')
      }
      const done = await restoredCluster({ settings, region: inRegion ? region : undefined, resumes,
        env: systemEnv({ level: 'error' }) })
      const { fenced, lifted, stopped } = done
      source.print(json ? `${JSON.stringify({ ...done, stopped: stopped ?? null })}\n` : [
        `Fenced ${fenced} sessions, and lifted the epochs of ${lifted} shards.`,
        stopped === undefined
          ? 'The members go on with what was unfinished.'
          : stoppedText(stopped),
        '',
      ].join('\n'))
    })
    .on('option:go-on', () => {
      resumes = true
    })
  return runCommand(command, source, 'say which cluster', clusterSettings)
}
