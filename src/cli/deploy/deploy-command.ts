/** The command `heddle deploy`: from the folder of a project to a revision that serves. */

import { Command } from 'commander'

import { isDeploymentName } from '../../deployment/index.ts'
import { CommandError } from '../admin-command.ts'
import { openControl, runControlCommand } from '../control/control-command.ts'
import type { TypedControl } from '../control/control-command.ts'
import type { ControlCommandSource } from '../control/control-source.ts'
import { recordIn } from '../control/deployment-settings.ts'
import { dotenvOf } from '../control/deployment-secrets-command.ts'
import { durationMs } from '../control/duration.ts'
import { percentIn } from '../control/replay-follow.ts'
import { findName } from '../control/target.ts'
import { wholeNumber } from '../control/whole-number.ts'
import { ignoreAuthOption } from './built-project.ts'
import type { TypedBuild } from './built-project.ts'
import { deploy } from './deploy.ts'
import type { DeployPlan } from './deploy-plan.ts'
import { confirmServer } from './found-server.ts'

interface Typed extends TypedControl, TypedBuild {
  readonly config?: string
  readonly remote?: boolean
  readonly yes?: boolean
  readonly repack?: boolean
  readonly message?: string
  readonly activate: boolean
  readonly checkOnly?: boolean
  readonly percent?: string
  readonly now?: boolean
  readonly envFile?: string
  readonly record?: string
  readonly preview?: string
  readonly ttl?: string
  readonly watch: boolean
  readonly replay?: string
  readonly replayMaxDiverged?: string
  readonly timeout: string
}

/** Builds, uploads, checks and activates. Throws CommandError. */
export function runDeployCommand(source: ControlCommandSource): Promise<void> {
  const command = new Command('heddle deploy')
    .description('Builds the project here, uploads what changed, checks it, and sends new runs ' +
      'to it once every member has loaded it.')
    .argument('[name]', 'The deployment, which is made if it is missing.')
    .option('--message <text>', 'What changed, for the list of revisions.')
    .option('--no-activate', 'Upload and check it, and keep it for "heddle revisions activate".')
    .option('--check-only', 'Upload and check it, and keep nothing.')
    .option('--percent <number>', 'The share of new runs that it takes, from 1 to 99.')
    .option('--now', 'Move runs under way, too: each at its next superstep, if it can go on there.')
    .option('--env-file <file>', 'Set the variables of a dotenv file as secrets first.')
    .option('--record <share>', 'Set first which share of its runs is recorded: 10%, all or off; ' +
      'project for what langgraph.json says.')
    .option('--preview <label>', 'Deploy to <name>--<label>, which has data of its own.')
    .option('--ttl <duration>', 'Remove the preview after so long without a request: 7d.')
    .option('--replay <number>', 'Replay so many recorded runs on it first, at most 500.')
    .option('--replay-max-diverged <percent>', 'Exit with 3, and do not activate it, if more of ' +
      'them differ: 2%. By default none may.')
    .option('--no-watch', 'Do not wait while the cluster watches its first runs.')
    .option('--timeout <duration>', 'How long members may take to load it.', '5m')
    .option('--config <path>', 'The project: its langgraph.json, or the folder of it.')
    .option('--platform <name>', 'Where it is going to run, as linux-x64-glibc; by default here.')
    .option('--clean', 'Install its packages anew from the lock file, in a temporary folder.')
    .option('--repack', 'Read all packages again, also those that did not change since the last ' +
      'deploy.')
    .option('--yes', 'Take the server that is found on this machine without being asked.')
    .option('--remote', 'Send its own files only: the server installs its packages and builds it.')
    .addOption(ignoreAuthOption())
    .action(async (name: string | undefined, typed: Typed) => {
      const plan = await planOf(source, name, typed)
      const { client, env, target } = await openControl(source, typed)
      const access = { client, env, name: plan.name, path: `/deployments/${plan.name}` }
      if (target.isFound && !typed.yes) await confirmServer(source, access)
      await deploy({ source, plan, access })
    })
  return runControlCommand(command, source)
}

/** Finds all mistakes before anything is built. */
async function planOf(source: ControlCommandSource, named: string | undefined,
  typed: Typed): Promise<DeployPlan> {
  const { message, activate, checkOnly = false, envFile, watch, remote = false, now = false,
    json = false } = typed
  const percent = typed.percent === undefined
    ? undefined
    : wholeNumber('--percent', typed.percent, { least: 1, most: 100 })
  if (percent !== undefined && (!activate || checkOnly)) {
    throw new CommandError('--percent activates: it cannot be with --no-activate or --check-only',
      'misused')
  }
  if (now && (!activate || checkOnly || percent !== undefined)) {
    throw new CommandError('--now moves all runs: it cannot be with --percent, --no-activate or ' +
      '--check-only', 'misused')
  }
  if (checkOnly && envFile !== undefined) {
    throw new CommandError('--env-file changes the deployment: it cannot be with --check-only',
      'misused')
  }
  if (checkOnly && typed.record !== undefined) {
    throw new CommandError('--record changes the deployment: it cannot be with --check-only',
      'misused')
  }
  if (remote && (typed.clean || typed.platform !== undefined)) {
    throw new CommandError('--remote builds where it is going to run: it cannot be with --clean ' +
      'or --platform', 'misused')
  }
  const of = await findName(source, typed, named)
  return {
    ...previewOf(of, typed),
    build: typed,
    repacks: typed.repack ?? false,
    isRemote: remote,
    message: message ?? '',
    goal: checkOnly ? 'check' : activate ? 'activate' : 'keep',
    percent,
    movesRuns: now,
    secrets: envFile === undefined ? undefined : await dotenvOf(source.folder, envFile),
    record: typed.record === undefined ? undefined : recordIn('--record', typed.record),
    replay: replayOf(typed),
    watches: watch && !json,
    timeoutMs: durationMs('--timeout', typed.timeout),
    json,
  }
}

function replayOf({ replay, replayMaxDiverged: most, preview }: Typed): DeployPlan['replay'] {
  if (replay === undefined) {
    if (most === undefined) return undefined
    throw new CommandError('--replay-max-diverged is for --replay', 'misused')
  }
  if (preview !== undefined) {
    throw new CommandError('--replay needs recorded runs: a preview has none', 'misused')
  }
  return { sample: wholeNumber('--replay', replay, { least: 1, most: 500 }),
    maxDiverged: most === undefined ? 0 : percentIn('--replay-max-diverged', most) }
}

function previewOf(of: string,
  { preview: label, ttl }: Typed): Pick<DeployPlan, 'name' | 'preview'> {
  if (label === undefined) {
    if (ttl === undefined) return { name: of, preview: undefined }
    throw new CommandError('--ttl is for --preview', 'misused')
  }
  const name = `${of}--${label}`
  if (!isDeploymentName(name)) {
    throw new CommandError(
      `--preview must be letters, digits and "-", and with "${of}--" at most ` +
        `63 characters, not "${label}"`,
      'misused',
    )
  }
  return { name, preview: { of, label, ttl_s: durationMs('--ttl', ttl ?? '7d') / 1_000 } }
}
