/** The command: reads the settings, serves, prints what it serves, and ends on a signal. */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import { setFlagsFromString } from 'node:v8'

import { Command, CommanderError } from 'commander'

import { consoleToLog, systemEnv } from '../cluster/index.ts'
import type { Env } from '../cluster/index.ts'
import { mistakeIn, typedSettings, withSettings } from './cli/command-line.ts'
import type { ControlCommandSource } from './cli/control/control-source.ts'
import { CodedError } from './errors.ts'
import type { Server } from './server/server.ts'
import { ownVersion, resolveSettings, SettingsError, v8Flags } from './settings/index.ts'
import type { Settings } from './settings/index.ts'

const exitCodes = { done: 0, failed: 1, misused: 2, refused: 3, interrupted: 130 } as const

/** Time within which two signals count as one: a terminal and npm both pass it on. */
const sameSignalMs = 300

/** Time between looks of a server started by npm for whether npm is still there. */
const orphanLookMs = 500

type Operation = (source: ControlCommandSource) => Promise<void>

/** The commands of developers and operators. Each is loaded only when it is run. */
const operations: Readonly<Record<string, () => Promise<Operation>>> = {
  new: async () => (await import('./cli/new-command.ts')).runNewCommand,
  build: async () => (await import('./cli/build-command.ts')).runBuildCommand,
  deploy: async () => (await import('./cli/deploy/deploy-command.ts')).runDeployCommand,
  rollback: async () => (await import('./cli/control/rollback-command.ts')).runRollbackCommand,
  revisions: async () => (await import('./cli/control/revisions-command.ts')).runRevisionsCommand,
  deployments: async () =>
    (await import('./cli/control/deployments-command.ts')).runDeploymentsCommand,
  logs: async () => (await import('./cli/control/logs-command.ts')).runLogsCommand,
  image: async () => (await import('./cli/image/image-command.ts')).runImageCommand,
  keys: async () => (await import('./cli/keys-command.ts')).runKeysCommand,
  billing: async () => (await import('./cli/billing-command.ts')).runBillingCommand,
  backup: async () => (await import('./cli/backup-command.ts')).runBackupCommand,
  doctor: async () => (await import('./cli/doctor-command.ts')).runDoctorCommand,
  upgrade: async () => (await import('./cli/upgrade-command.ts')).runUpgradeCommand,
  members: async () => (await import('./cli/members-command.ts')).runMembersCommand,
  secrets: async () => (await import('./cli/secrets-command.ts')).runSecretsCommand,
  restored: async () => (await import('./cli/restored-command.ts')).runRestoredCommand,
  restore: async () => (await import('./cli/restore-command.ts')).runRestoreCommand,
}

const commandsHelp = `
Develop:
  new         Makes a folder with a project to begin with.
  dev         Serves the project here; without a command, the starter.
  build       Packs a project and the packages that it needs.

Deploy:
  deploy      Builds the project here, and sends new runs to it.
  rollback    Makes an earlier revision active again.
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
  upgrade     Says whether an upgrade to this program may begin.
  billing     Lists what a tenant is to be billed for.`

/** The folder where it was started. A server changes to the folder of its project. */
const here = folderOfCaller()

/** With the word `dev`, the project here is served where none is named. */
const isDev = process.argv[2] === 'dev'
const projectHere = join(here, 'langgraph.json')

if (Number.parseInt(process.versions.node) < 24) runOnNode24()
else if (Object.hasOwn(operations, process.argv[2] ?? '')) await operate()
else await serve()

async function serve(): Promise<void> {
  const settings = settingsFromCommand()
  prepareForThreads()
  const env = systemEnv({ level: settings.logLevel })
  consoleToLog(env.log)
  try {
    const { openServer } = await import('./server/server.ts')
    const server = await openServer(settings, env, (reason) => {
      env.log.error('This member cannot go on and ends.', { reason })
      process.exit(exitCodes.failed)
    })
    endOnSignal(server, settings, env)
    announce(server, settings)
  } catch (error) {
    if (error instanceof CodedError) refuse(error.message, exitCodes.failed)
    env.log.error('Heddle could not start.', { error })
    process.exit(exitCodes.failed)
  }
}

/** Runs the command of an operator. */
async function operate(): Promise<void> {
  prepareForThreads()
  const { CommandError } = await import('./cli/admin-command.ts')
  const run = await operations[process.argv[2]!]!()
  try {
    await run({ args: process.argv.slice(3), ...surroundings(), ...caller() })
  } catch (error) {
    if (error instanceof CommandError) refuse(error.message, exitCodes[error.fault])
    throw error
  }
}

/** Whoever called a command: a person at a terminal, or a program. */
function caller(): Pick<ControlCommandSource,
  'print' | 'note' | 'isTerminal' | 'readSecret' | 'readLine' | 'interrupted'> {
  const note = (text: string) => void process.stderr.write(text)
  return {
    print: (text) => void process.stdout.write(text),
    note,
    isTerminal: process.stderr.isTTY === true,
    readSecret: async (prompt) => {
      const { readSecret } = await import('./cli/control/secret-input.ts')
      return await readSecret({ input: process.stdin, ask: note }, prompt)
    },
    readLine: async (prompt) => {
      const { createInterface } = await import('node:readline/promises')
      const lines = createInterface({ input: process.stdin, output: process.stderr })
      const ended = new Promise<string>((done) => lines.once('close', () => done('')))
      try {
        return await Promise.race([lines.question(prompt), ended])
      } finally {
        lines.close()
      }
    },
    interrupted: (callback) => {
      process.on('SIGINT', callback)
      return () => process.off('SIGINT', callback)
    },
  }
}

function surroundings() {
  return {
    environment: process.env,
    folder: here,
    starter: isDev && existsSync(projectHere)
      ? projectHere
      : pathInHouse('deploy/starter/langgraph.json'),
  }
}

/**
 * Reads the settings. Ends the process if there is nothing to serve: for --help, or after a
 * mistake.
 */
function settingsFromCommand(): Settings {
  const command = withSettings(new Command('heddle')
    .usage('[options]\n       heddle <command> --help')
    .description('Serves LangGraph.js graphs behind the Agent Deployment API, durably.')
    .version(ownVersion(), '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Print this help.')
    .addHelpText('after', commandsHelp)
    .configureOutput({ writeErr: () => {} })
    .exitOverride())
  try {
    const args = process.argv.slice(isDev ? 3 : 2)
    command.parse(args, { from: 'user' })
    return resolveSettings({ options: typedSettings(command), ...surroundings() })
  } catch (error) {
    if (error instanceof SettingsError) refuse(error.message, exitCodes.misused)
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) process.exit(exitCodes.done)
    const mistake = error.code === 'commander.excessArguments'
      ? strayWord(command.args[0]!)
      : mistakeIn(error)
    refuse(`${mistake}; see --help`, exitCodes.misused)
  }
}

/** Explains `npm start --config project`, of which npm keeps the option for itself. */
function strayWord(word: string): string {
  return `"${word}" is no command, as "keys", "billing" and "backup" are: a project is named by ` +
    '--config, and npm passes options on only after "--" (npm start -- --config <path>)'
}

/** npm runs scripts in the folder of package.json, wherever it was called from. */
function folderOfCaller(): string {
  const { INIT_CWD: caller } = process.env
  return callingScript() !== undefined && caller ? caller : process.cwd()
}

function announce({ url, studioUrl, platformUrl, metricsPort, graphs, place, member }: Server,
  { dataDirectory, metrics, port, portIsChosen }: Settings): void {
  const label = (text: string) => styleText('dim', text.padEnd(8))
  // A closed output is no reason to end.
  process.stdout.on('error', () => {})
  const width = Math.max(...graphs.map(({ graphId }) => graphId.length))
  const lines = graphs.map(({ graphId, file, loaded }, index) => {
    const fault = loaded ? '' : styleText('red', '  cannot be used, see the log')
    const name = label(index === 0 ? 'graphs' : '') + graphId.padEnd(width)
    return `  ${name}  ${nearby(file)}${fault}`
  })
  process.stdout.write([
    '',
    `  ${styleText('bold', `heddle ${ownVersion()}`)} serves ` +
    (url === undefined ? 'other members' : `at ${styleText('cyan', url)}`),
    '',
    ...studioUrl === undefined ? [] : [`  ${label('studio')}${styleText('cyan', studioUrl)}`],
    ...lines,
    ...url === undefined || portIsChosen || Number(new URL(url).port) === port
      ? []
      : [`  ${label('port')}${port} is taken, so it is the next free one; --port chooses one`],
    `  ${label('data')}${place === dataDirectory ? nearby(place) : place}`,
    ...member === undefined ? [] : [`  ${label('member')}${member}`],
    ...url === undefined ? [] : [`  ${label('docs')}${url}/docs`],
    ...platformUrl === undefined ? [] : [`  ${label('traces')}${platformUrl}`],
    ...metricsPort === undefined
      ? []
      : [`  ${label('metrics')}port ${metricsPort} of ${metrics!.host}`],
    '',
    '',
  ].join('\n'))
}

/** Sets what holds for all threads of the process. Call before the first thread starts. */
function prepareForThreads(): void {
  for (const flag of v8Flags) setFlagsFromString(flag)
  // With a compile cache, the next start is a quarter faster. Workers find it in the environment.
  process.env.NODE_COMPILE_CACHE ??= pathInHouse('node_modules/.cache/heddle-compile')
  enableCompileCache(process.env.NODE_COMPILE_CACHE)
}

/**
 * Ends the server on the first signal in order, within the time set for it. Another signal ends it
 * at once.
 */
function endOnSignal(server: Server, { drainMs }: Settings, env: Env): void {
  let firstMs: number | undefined
  const end = async () => {
    const nowMs = env.monotonicMs()
    if (firstMs !== undefined && nowMs - firstMs < sameSignalMs) return
    if (firstMs !== undefined) process.exit(exitCodes.interrupted)
    firstMs = nowMs
    env.log.info('Ending; a second signal ends at once.')
    env.after(drainMs, () => {
      env.log.warn('Ending took too long; what is not done resumes at the next start.')
      process.exit(exitCodes.done)
    })
    await server.close()
    process.exit(exitCodes.done)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end())
  const npm = process.ppid
  if (callingScript() !== undefined) {
    // An npm that is killed outright passes no signal on, and the server would be left over.
    const stopLooking = env.every(orphanLookMs, () => {
      if (process.ppid === npm) return
      stopLooking()
      void end()
    })
  }
}

/** The npm script of ours that started this process, if one did. */
function callingScript(): string | undefined {
  const { npm_lifecycle_event: script } = process.env
  return script === 'start' || script === 'heddle' ? script : undefined
}

/**
 * Starts again with Node 24. Node 22 and 23 can read this file too, but lack what the rest needs.
 */
function runOnNode24(): never {
  const args = [pathInHouse('scripts/run.mjs'), ...process.argv.slice(1)]
  process.exit(spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? exitCodes.failed)
}

/** Ends with a message. Each of its sentences gets a line of its own. */
function refuse(message: string, exitCode: number): never {
  process.stderr.write(`heddle: ${message.replaceAll('\n', '\nheddle: ')}\n`)
  process.exit(exitCode)
}

function pathInHouse(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}

function nearby(path: string): string {
  const fromHere = relative(here, path)
  return fromHere.startsWith('..') ? path : fromHere
}
