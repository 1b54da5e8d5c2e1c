/** A project: a folder with a langgraph.json, read and checked before anything is loaded. */

import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { parseEnv } from 'node:util'

import { z } from 'zod'

import type { WebhookPolicy } from '../../egress/index.ts'
import { HeddleError, messageOf } from '../../errors.ts'
import { memberOf } from '../../json/index.ts'
import { authOf, authShape } from '../app/auth-settings.ts'
import { httpSettingsOf, httpShape, secretHeaders } from '../app/http-settings.ts'
import { unknownGuards, unknownKeys } from '../app/known-keys.ts'
import { disabledRoutesOf, disablingShape } from './project-http.ts'
import { isFile, storeOf, storeShape } from './project-store.ts'
import type { ProjectStore } from './project-store.ts'
import type { ProjectSettings } from './project-settings.ts'
import type { TimeToLiveRequest } from '../../search/index.ts'
import { checkpointerShape, timeToLiveOf } from './project-time-to-live.ts'
import { effectRulesOf } from '../effect-rule.ts'
import type { EffectRule } from '../effect-rule.ts'
import { recordingRuleOf } from '../recording-rule.ts'
import type { RecordingRule } from '../recording-rule.ts'
import { heddleShape, trialFault, trialOf } from './project-trial.ts'
import type { TrialRun } from './project-trial.ts'
import type { UiWishes } from '../components/ui-plan.ts'
import { webhookShape, webhooksOf } from './project-webhooks.ts'

/** A checked project. Nothing of its code has been loaded. */
export interface Project {
  /** Absolute and without links, so that each file has one name only. */
  readonly root: string
  /** Path of the langgraph.json. */
  readonly configFile: string
  readonly graphs: readonly ProjectGraph[]
  /** Variables for the graphs. Those of the process win. */
  readonly env: Readonly<Record<string, string>>
  /** The dotenv file that `env` names, whether it exists or not; null if it names none. */
  readonly envFile: string | null
  /** Decides which webhooks its runs may call. */
  readonly webhooks: WebhookPolicy
  /**
   * Settings that say how long items of long-term memory are kept, and whether they are embedded.
   */
  readonly store: ProjectStore
  /** Time to live of its new threads; undefined for no end. */
  readonly timeToLive: TimeToLiveRequest | undefined
  /** The same three, as a deployment keeps them. */
  readonly settings: ProjectSettings
  /** Members about components, which are checked when these are built. */
  readonly ui: UiWishes
  /** Run that must succeed on a revision before other runs are sent there. */
  readonly trial?: TrialRun
  /** Rules for effects that happen once; missing if there are none. */
  readonly effects?: readonly EffectRule[]
  /** The rule by which outgoing calls of runs are recorded; missing if none are. */
  readonly recording?: RecordingRule
  /** The function that redacts recordings; missing if the project brings none. */
  readonly mask?: Omit<ProjectModule, 'field'>
  /** The project's own login; missing if it brings none. */
  readonly login?: ProjectModule
  /** The project's own app; missing if it brings none. */
  readonly app?: ProjectModule
  /** True if the login that it names was left out. */
  readonly ignoreAuth: boolean
  /** Share of runs that it was read with, in place of that of its file. */
  readonly record?: string
  /** A message for each setting of the file that has no effect. */
  readonly warnings: readonly string[]
}

interface ProjectGraph {
  readonly graphId: string
  /** Absolute path. */
  readonly file: string
  readonly exportName: string
  readonly description: string | null
}

/** A module that is loaded beside the graphs. */
export interface ProjectModule {
  /** The key of langgraph.json that names it. */
  readonly field: 'auth.path' | 'http.app'
  /** Absolute path. */
  readonly file: string
  readonly exportName: string
}

const configName = 'langgraph.json'
const extensions = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx']

const pathForm = 'must name a file and its export, like "./agent.ts:graph"'
const graphPath = z.string(pathForm)
  .regex(/^.+:/s, pathForm)
  .refine((path) => !path.includes(':') || extensions.includes(extname(fileOf(path))), {
    error: ({ input }) =>
      `names a file that is neither TypeScript nor JavaScript: ${input} ` +
      '(Heddle serves graphs of LangGraph.js, no Python)',
  })

const graphEntry = z.looseObject({ path: graphPath, description: z.string().nullish() }, {
  error: 'must be "./agent.ts:graph" or {"path": "./agent.ts:graph", "description": "…"}',
})

/** A text that can be part of a path: without `/`, `\` and control characters. */
const graphId = z.string().regex(/^(?!\.{1,2}$)(?!\s)[^/\\\p{Cc}\p{Cs}]{1,128}(?<!\s)$/u)

const graphs = z.record(
  graphId,
  z.preprocess((entry) => typeof entry === 'string' ? { path: entry } : entry, graphEntry),
  { error: (issue) =>
    issue.code === 'invalid_key'
      ? 'is no graph id: use 1 to 128 characters, none of them "/", "\\" or a control character, ' +
        'and no space at either end'
      : 'must be an object from graph ids to "./file.ts:export"' },
).refine((entries) => Object.keys(entries).length > 0, 'must name at least one graph')

/** The keys that Heddle reads. All others of the ecosystem may be there as well. */
const configShape = z.looseObject({
  graphs,
  webhooks: webhookShape.prefault({}),
  store: storeShape.nullish(),
  checkpointer: checkpointerShape.nullish(),
  heddle: heddleShape.extend({ mask: graphPath.optional() }).nullish(),
  auth: authShape(graphPath),
  http: z.looseObject({ disable_webhooks: z.boolean('must be true or false').optional(),
    ...disablingShape, ...httpShape(graphPath) }, {
    error: 'must be an object',
  }).nullish(),
  env: z.preprocess((env) => typeof env === 'string' ? { path: env } : { variables: env },
    z.object({
      path: z.string().optional(),
      variables: z.record(z.string(), z.string({ error: 'must be a text' }), {
        error: 'must be an object of texts or the path of a dotenv file',
      }).optional(),
    })),
}, { error: 'must be an object' })

type Config = z.infer<typeof configShape>

/** Options for reading a project. */
export interface ReadingOptions {
  /**
   * True for a deployment: headers of webhooks follow later, and nothing of this process is used.
   */
  readonly deployed?: boolean
  /** Folder in which the dotenv file has to be: a file elsewhere is read as a missing one. */
  readonly within?: string | undefined
  /** True to leave the login out that a project names: what it guards is open then. */
  readonly ignoreAuth?: boolean | undefined
  /** Share of runs that are recorded, in place of that of the file. */
  readonly record?: string | undefined
}

/**
 * Reads a langgraph.json, or the one in a folder. Throws `invalid` with a message that names every
 * wrong field.
 */
export async function readProject(path: string,
  { deployed = false, within, ignoreAuth = false, record }: ReadingOptions = {}): Promise<Project> {
  const configFile = await findConfig(path)
  const root = dirname(configFile)
  const config = await parseConfig(configFile)
  requireUnderstood(configFile, config)
  const graphs = Object.entries(config.graphs).map(([graphId, { path, description }]) => ({
    graphId,
    ...placeOf(root, path),
    description: description ?? null,
  }))
  const store = storeOf(root, config.store ?? {})
  const brought = broughtBy(config, ignoreAuth)
  const modules = modulesOf(root, brought)
  const mask = config.heddle?.mask === undefined ? undefined : placeOf(root, config.heddle.mask)
  await requireFiles(configFile, [
    ...graphs.map(({ graphId, file }) => ({ field: `graphs.${graphId}`, file })),
    ...store.embedding ? [{ field: 'store.index.embed', file: store.embedding.file }] : [],
    ...mask ? [{ field: 'heddle.mask', file: mask.file }] : [],
    ...Object.values(modules),
  ])
  const trial = trialOf(config.heddle ?? {})
  const fault = trial && trialFault(trial, Object.keys(config.graphs))
  if (fault !== undefined) throw refusal(configFile, [fault])
  const effects = effectRulesOf(config.heddle?.effects)
  const recording = recordingRuleOf({ ...config.heddle, ...record && { record } })
  const env = await readEnv(configFile, config, { ignoreAuth, within })
  if (deployed && env.env['LANGGRAPH_CONFIG'] !== undefined) {
    env.warnings.push('LANGGRAPH_CONFIG has no effect in a deployment: give its assistants their ' +
      'config and context by the API.')
  }
  const timeToLive = timeToLiveOf(config.checkpointer)
  const disabledRoutes = disabledRoutesOf(config.http)
  const settings: ProjectSettings = { webhooks: config.webhooks,
    disable_webhooks: config.http?.disable_webhooks ?? false,
    store: { ttl_ms: store.ttlMs, refresh_on_read: store.refreshOnRead },
    time_to_live: timeToLive ?? null,
    ...disabledRoutes.length > 0 && { disabled_routes: disabledRoutes }, ...brought }
  const webhooks = deployed
    ? webhooksOf(config.webhooks, true, {}).webhooks
    : readWebhooks(configFile, config, env.env)
  const ui = { ui: config['ui'], ui_config: config['ui_config'],
    isOff: disabledRoutes.includes('ui') }
  return { root, configFile, graphs, ...modules, ...env, ignoreAuth, store, webhooks, timeToLive,
    settings, ui, ...trial && { trial }, ...effects.length > 0 && { effects },
    ...recording && { recording }, ...mask && { mask }, ...record && { record } }
}

/** Settings of the login, the app and the routes, as a deployment keeps them. */
function broughtBy({ auth, http }: Config,
  ignoreAuth: boolean): Pick<ProjectSettings, 'auth' | 'http'> {
  const login = ignoreAuth ? undefined : authOf(auth)
  const settings = httpSettingsOf(http)
  return { ...login && { auth: login }, ...settings && { http: settings } }
}

function modulesOf(root: string,
  { auth, http }: Pick<ProjectSettings, 'auth' | 'http'>): Pick<Project, 'login' | 'app'> {
  return {
    ...auth && { login: { field: 'auth.path', ...placeOf(root, auth.path) } },
    ...http?.app !== undefined && { app: { field: 'http.app', ...placeOf(root, http.app) } },
  }
}

function placeOf(root: string, path: string): Pick<ProjectModule, 'file' | 'exportName'> {
  return { file: resolve(root, fileOf(path)),
    exportName: path.slice(path.lastIndexOf(':') + 1) || 'default' }
}

async function findConfig(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  const file = found?.isDirectory() ? join(path, configName) : path
  const isThere = (await stat(file).catch(() => undefined))?.isFile() ?? false
  if (isThere && extname(file) === '.json') {
    return join(await realpath(dirname(file)), basename(file))
  }
  const fault = isThere
    ? `The name of ${file} does not end in .json`
    : `There is no project at ${file}`
  throw new HeddleError('invalid', `${fault}: name a ${configName} or a folder that has one.`)
}

async function parseConfig(configFile: string): Promise<Config> {
  const text = await readText(configFile).catch(({ message }: Error) => {
    throw new HeddleError('invalid', `${configFile} cannot be read: ${message}.`)
  })
  const parsed = configShape.safeParse(parseJson(configFile, text))
  if (parsed.success) return parsed.data
  throw refusal(configFile, parsed.error.issues.map(({ path, message }) => ({
    field: fieldName(path),
    message,
  })))
}

/** The text without the byte order mark with which editors of Windows begin a file. */
async function readText(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
}

function parseJson(configFile: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new HeddleError('invalid', `${configFile} is not JSON: ${messageOf(error)}`)
  }
}

/** The path as it is in the file, without the steps that preprocessing adds. */
function fieldName(path: readonly PropertyKey[]): string {
  const steps = path.map(String)
  if (steps[0] === 'env') steps.splice(1, 1)
  if (steps[0] === 'graphs' && steps[2] === 'path') steps.pop()
  return steps.join('.')
}

interface Problem {
  readonly field: string
  readonly message: string
}

function refusal(configFile: string, problems: readonly Problem[]): HeddleError {
  const messages = problems.map(({ field, message }) => `${field} ${message}`.trim())
  return new HeddleError('invalid', `${configFile} is not valid: ${messages.join('; ')}.`, {
    fields: problems.map(({ field }) => field),
  })
}

function fileOf(path: string): string {
  return path.slice(0, path.lastIndexOf(':'))
}

async function requireFiles(configFile: string,
  named: readonly { readonly field: string; readonly file: string }[]): Promise<void> {
  const problems = await Promise.all(named.map(async ({ field, file }) => {
    const found = await stat(file).catch(() => undefined)
    return found?.isFile()
      ? []
      : [{ field, message: `names a file that is not there: ${file}` }]
  }))
  if (problems.flat().length > 0) throw refusal(configFile, problems.flat())
}

/** Reads the webhook policy. Variables of the process win over the project's, as for graphs. */
function readWebhooks(configFile: string, { webhooks, http }: Config,
  env: Readonly<Record<string, string>>): WebhookPolicy {
  const read = webhooksOf(webhooks, http?.disable_webhooks ?? false, { ...env, ...process.env })
  if (read.broken.length === 0) return read.webhooks
  throw refusal(configFile,
    read.broken.map(({ name, message }) => ({ field: `webhooks.headers.${name}`, message })))
}

interface ProjectEnv extends Pick<Project, 'env' | 'envFile'> {
  readonly warnings: string[]
}

async function readEnv(configFile: string, config: Config,
  { ignoreAuth = false, within }: ReadingOptions): Promise<ProjectEnv> {
  const { path, variables = {} } = config.env
  const warnings = unmetWishes(config, ignoreAuth)
  if (path === undefined) return { env: variables, envFile: null, warnings }
  const envFile = resolve(dirname(configFile), path)
  try {
    if (within !== undefined && isOutside(await realpath(within), await realpath(envFile))) {
      throw new Error('it is outside of the project')
    }
    const env = parseEnv(await readText(envFile)) as Record<string, string>
    return { env, envFile, warnings }
  } catch (error) {
    // Templates name a .env without having one, because the process may have the keys.
    const missing = `env in ${basename(configFile)} names "${path}", which cannot be read ` +
      `(${reasonOf(error)}): continuing without it.`
    return { env: {}, envFile, warnings: [...warnings, missing] }
  }
}

/** Reason why a file cannot be read, without paths of this machine. */
function reasonOf(error: unknown): string {
  const code = memberOf(error, 'code')
  if (code === 'ENOENT') return 'there is no such file'
  return typeof code === 'string' ? code : messageOf(error)
}

/** True if a file is not in a folder. Both paths are without links. */
export function isOutside(folder: string, file: string): boolean {
  return relative(folder, file).split(sep)[0] === '..'
}

/** Unsupported keys whose absence clients or operators would notice. */
function unmetWishes(config: Config, ignoreAuth: boolean): string[] {
  const embed = config.store?.index?.embed
  const model = embed === undefined || isFile(embed) ? [] : [`store.index.embed names ${embed}, ` +
    'which is no file of the project: nothing is found by meaning. Name "./embed.ts:embed".']
  const open = ignoreAuth && config.auth !== undefined
    ? ['auth is left out by --ignore-auth: every caller may do everything.']
    : []
  const unknown = unknownKeys(config).map((key) => `${key} has no effect: there is no such key.`)
  return [...open, ...model, ...unknown, ...secretHeaders(httpSettingsOf(config.http))]
}

/** Throws `invalid` for a key that may guard something, and of which nothing is known. */
function requireUnderstood(configFile: string, config: Config): void {
  const problems = unknownGuards(config).map((field) => ({ field,
    message: 'is not known, and may guard something: remove it, or look at its name' })
  )
  if (problems.length > 0) throw refusal(configFile, problems)
}
