/** Text of commands after data came back from a backup. */

import type { Stopped } from '../server/operator/stop-restored.ts'

/** Counts of stopped work, with advice to the operator. */
export function stoppedText({ runs, webhooks, crons, rules, experiments }: Stopped): string {
  return [
    `Stopped: ${counted(runs, 'run')}, ${counted(webhooks, 'webhook')}, ` +
    `${counted(experiments, 'experiment')}.`,
    `Disabled: ${counted(crons, 'cron')}, ${counted(rules, 'rule')}. Enable again what you need.`,
    'API keys that were revoked, and threads that were deleted, after the backup are back: ' +
    'see "heddle keys list".',
  ].join('\n')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
