/** The command `heddle`: finds what was asked for, does it, and says how it ended. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { Command, CommanderError } from 'commander'

import { CodedError } from '../errors.ts'
import { ownVersion, resolveSettings, SettingsError } from '../settings/index.ts'
import type { Settings } from '../settings/index.ts'
import { mistakeIn, typedSettings, withSettings } from './command-line.ts'
import type { ControlCommandSource } from './control/control-source.ts'
import { nearestWord } from './nearest-word.ts'

/** Exit codes of commands. A command that serves is done as soon as it serves. */
export const exitCodes = { done: 0, failed: 1, misused: 2, refused: 3, interrupted: 130 } as const

/** Caller of a command: a person at a terminal, or a program. */
export interface HeddleCaller extends Omit<ControlCommandSource, 'args' | 'starter' | 'folder'> {
  /** Folder of the process that was started. */
  readonly workingFolder: string
  /** Serves with these settings. Throws CodedError with a message if they cannot work. */
  serve(settings: Settings): Promise<void>
}

type Operation = (source: ControlCommandSource) => Promise<void>

/** The commands of developers and operators. Each is loaded only when it is run. */
const operations: Readonly<Record<string, () => Promise<Operation>>> = {
  new: async () => (await import('./new-command.ts')).runNewCommand,
  build: async () => (await import('./build-command.ts')).runBuildCommand,
  deploy: async () => (await import('./deploy/deploy-command.ts')).runDeployCommand,
  rollback: async () => (await import('./control/rollback-command.ts')).runRollbackCommand,
  replay: async () => (await import('./control/replay-command.ts')).runReplayCommand,
  revisions: async () => (await import('./control/revisions-command.ts')).runRevisionsCommand,
  deployments: async () => (await import('./control/deployments-command.ts')).runDeploymentsCommand,
  logs: async () => (await import('./control/logs-command.ts')).runLogsCommand,
  image: async () => (await import('./image/image-command.ts')).runImageCommand,
  keys: async () => (await import('./keys-command.ts')).runKeysCommand,
  billing: async () => (await import('./billing-command.ts')).runBillingCommand,
  backup: async () => (await import('./backup-command.ts')).runBackupCommand,
  doctor: async () => (await import('./doctor-command.ts')).runDoctorCommand,
  upgrade: async () => (await import('./upgrade-command.ts')).runUpgradeCommand,
  members: async () => (await import('./members-command.ts')).runMembersCommand,
  secrets: async () => (await import('./secrets-command.ts')).runSecretsCommand,
  restored: async () => (await import('./restored-command.ts')).runRestoredCommand,
  restore: async () => (await import('./restore-command.ts')).runRestoreCommand,
}

const commandsHelp = `Usage: heddle <command> [options]

Develop:
  new         Makes a folder with a project to begin with.
  dev         Serves the project here; without a command, the starter.
  build       Packs a project and the packages that it needs.

Deploy:
  deploy      Builds the project here, and sends new runs to it.
  rollback    Makes an earlier revision active again.
  replay      Says what a revision would have done with recorded runs.
  revisions   Lists, activates and removes what was deployed.
  deployments Lists, makes, changes and removes deployments.
  logs        Prints what the code of a deployment wrote.
  secrets     Sets variables of a deployment; checks and reseals all secrets.
  image       Makes a container image of the project.

Operate:
  keys        Makes, lists and revokes API keys.
  members     Lists the members of a cluster, and drains them.
  doctor      Says what is wrong with this machine, the settings and the store.
  backup      Copies all data into a file.
  restore     Puts a backup into an empty data directory.
  restored    Makes a cluster usable after its snapshots were restored.
  upgrade     Says whether an upgrade to this program may begin, and ends it.
  billing     Lists what a tenant is to be billed for.

"heddle <command> --help" says more; "heddle dev --help" lists all settings.
`

/** Does what was typed after `heddle`. Resolves with the exit code; a mistake is noted. */
export async function runHeddle(args: readonly string[], caller: HeddleCaller): Promise<number> {
  const refuse = (message: string, exitCode: number) => {
    // Each sentence gets a line of its own.
    caller.note(`heddle: ${message.replaceAll('\n', '\nheddle: ')}\n`)
    return exitCode
  }
  const load = Object.hasOwn(operations, args[0] ?? '') ? operations[args[0]!] : undefined
  return load === undefined
    ? await serve(args, caller, refuse)
    : await operate(await load(), { ...caller, args: args.slice(1), ...placeOf(args, caller) },
      refuse)
}

/** The npm script of ours that started a process with these variables, if one did. */
export function callingScript(environment: NodeJS.ProcessEnv): string | undefined {
  const { npm_lifecycle_event: script } = environment
  return script === 'start' || script === 'heddle' ? script : undefined
}

/**
 * Folder of the caller, as npm runs scripts in the folder of package.json, wherever it was called.
 */
export function folderOfCaller(
  { environment, workingFolder }: Pick<HeddleCaller, 'environment' | 'workingFolder'>,
): string {
  const { INIT_CWD: folder } = environment
  return callingScript(environment) !== undefined && folder ? folder : workingFolder
}

type Refuse = (message: string, exitCode: number) => number

/** Runs the command of a developer or an operator. */
async function operate(run: Operation, source: ControlCommandSource,
  refuse: Refuse): Promise<number> {
  const { CommandError } = await import('./admin-command.ts')
  try {
    await run(source)
    return exitCodes.done
  } catch (error) {
    if (error instanceof CommandError) return refuse(error.message, exitCodes[error.fault])
    throw error
  }
}

async function serve(args: readonly string[], caller: HeddleCaller,
  refuse: Refuse): Promise<number> {
  const command = withSettings(new Command('heddle')
    .usage(isDev(args) ? 'dev [options]' : '[options]')
    .description('Serves LangGraph.js graphs behind the Agent Deployment API, durably.')
    .version(ownVersion(), '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .configureOutput({ writeOut: caller.print, writeErr: () => {} })
    .exitOverride())
  // Help shows settings to callers that start a server, and commands to all others.
  const starts = isDev(args) || callingScript(caller.environment) === 'start'
  if (!starts) command.helpInformation = () => commandsHelp
  try {
    command.parse(isDev(args) ? args.slice(1) : args, { from: 'user' })
    await caller.serve(
      resolveSettings({ options: typedSettings(command), environment: caller.environment,
        ...placeOf(args, caller) }),
    )
    return exitCodes.done
  } catch (error) {
    if (error instanceof SettingsError) return refuse(error.message, exitCodes.misused)
    if (error instanceof CodedError) return refuse(error.message, exitCodes.failed)
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitCodes.done
    const mistake = error.code === 'commander.excessArguments'
      ? strayWord(command.args[0]!)
      : mistakeIn(error)
    return refuse(mistake.endsWith('?') ? `${mistake} See --help` : `${mistake}; see --help`,
      exitCodes.misused)
  }
}

/** True for the word `dev`, which serves the project here unless another one is named. */
function isDev([word]: readonly string[]): boolean {
  return word === 'dev'
}

function placeOf(args: readonly string[],
  caller: HeddleCaller): Pick<ControlCommandSource, 'folder' | 'starter'> {
  const folder = folderOfCaller(caller)
  const projectHere = join(folder, 'langgraph.json')
  return { folder, starter: isDev(args) && existsSync(projectHere)
    ? projectHere
    : fileURLToPath(new URL('../../deploy/starter/langgraph.json', import.meta.url)) }
}

/**
 * Names the command that was meant, or explains `npm start --config project`, of which npm keeps
 * the option for itself.
 */
function strayWord(word: string): string {
  const meant = nearestWord(word, [...Object.keys(operations), 'dev'])
  if (meant !== undefined) return `"${word}" is no command: did you mean "${meant}"?`
  return `"${word}" is no command: a project is named by --config, and npm passes options on ` +
    'only after "--" (npm start -- --config <path>)'
}
