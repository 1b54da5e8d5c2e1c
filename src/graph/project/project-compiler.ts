/** Turns a project's TypeScript and JavaScript into modules that a worker can be given. */

import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { build, stop } from 'esbuild'
import type { BuildFailure, BuildOptions, Message, Metafile, Plugin, ResolveOptions } from 'esbuild'

import type { EffectRule } from '../effect-rule.ts'
import type { RecordingRule } from '../recording-rule.ts'
import type { Project, ProjectModule } from './project.ts'

/**
 * All that a worker needs to load the graphs, as plain data that can be posted. Files are not
 * bundled and keep their URLs. So two graphs that import a file share one module, `import.meta.url`
 * is true, and packages are found where the project has them.
 */
export interface CompiledProject {
  readonly root: string
  readonly graphs: readonly GraphEntry[]
  /** Null if the project embeds nothing. */
  readonly embedding: EmbeddingEntry | null
  /** Missing if the project brings no login. */
  readonly login?: BroughtEntry
  /** Missing if the project brings no app. */
  readonly app?: BroughtEntry
  /** Rules for effects that happen once; missing if there are none. */
  readonly effects?: readonly EffectRule[]
  /** The rule by which outgoing calls of runs are recorded; missing if none are. */
  readonly recording?: RecordingRule
  /** The module that redacts recordings; missing if the project brings none. */
  readonly mask?: EmbeddingEntry
  /** True in a process that replays recorded runs, and does nothing else. */
  readonly replays?: boolean
  /** Variables whose values are secret whatever their names: the secrets of a deployment. */
  readonly secretNames?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Every local file that a graph imports, by file URL. */
  readonly sources: ReadonlyMap<string, ModuleSource>
  /** Importer's URL → specifier → URL, as tsconfig and bundlers resolve it. No packages. */
  readonly resolutions: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** A graph of a compiled project: where its module is, or why there is none. */
export interface GraphEntry {
  readonly graphId: string
  /** File URL of the module. */
  readonly url: string
  readonly exportName: string
  readonly description: string | null
  /** Why its files could not be compiled, `file:line:column: message` a line; null if they were. */
  readonly failure: string | null
}

/** The module that embeds texts. */
export type EmbeddingEntry = Pick<GraphEntry, 'url' | 'exportName' | 'failure'>

/** The module of a login or an app. */
export type BroughtEntry = EmbeddingEntry & Pick<ProjectModule, 'field'>

/** JavaScript. Compiled code has its source map inside. */
interface ModuleSource {
  readonly format: 'module' | 'commonjs'
  readonly source: string
}

/** Files that esbuild found from one graph file on, or the reason why it failed. */
type Discovery = { readonly inputs: Metafile['inputs'] } | { readonly failure: string }

type Compiled = (readonly [url: string, source: ModuleSource])[]

type Inputs = readonly (readonly [path: string, input: Metafile['inputs'][string]])[]

/**
 * Compiles a project. A graph that cannot be compiled has a `failure`; user code makes nothing
 * throw.
 */
export async function compileProject(project: Project): Promise<CompiledProject> {
  try {
    return await compiled(project)
  } catch {
    // The compiler is a process, which may have been killed. This starts another one.
    await stop()
    return await compiled(project)
  }
}

async function compiled(project: Project): Promise<CompiledProject> {
  const { root, store: { embedding }, login, app, mask } = project
  const named = modulesIn(project)
  const files = [...new Set(named.map(({ file }) => file))]
  // Each is compiled separately, so that errors in one do not hide those in others.
  const discoveries = await Promise.all(files.map((file) => discover(root, file)))
  const failures = new Map(
    discoveries.map((found, index) => [files[index], 'failure' in found ? found.failure : null]),
  )
  const entryOf = ({ file, exportName }: Pick<ProjectModule, 'file' | 'exportName'>) => ({
    url: pathToFileURL(file).href,
    exportName,
    failure: failures.get(file) ?? null,
  })
  const inputs = discoveries.flatMap((found) => 'failure' in found ? [] : entriesOf(found.inputs))
  return {
    root,
    graphs: project.graphs.map(({ graphId, description, ...place }) => ({ graphId, description,
      ...entryOf(place) })
    ),
    embedding: embedding ? entryOf(embedding) : null,
    ...login && { login: { field: login.field, ...entryOf(login) } },
    ...app && { app: { field: app.field, ...entryOf(app) } },
    ...mask && { mask: entryOf(mask) },
    ...project.effects && { effects: project.effects },
    ...project.recording && { recording: project.recording },
    env: project.env,
    sources: await compile(root, inputs),
    resolutions: resolutionsOf(root, inputs),
  }
}

/** All modules of a project that are loaded by name. */
export function modulesIn(
  { graphs, store: { embedding }, login, app, mask }: Project,
): Pick<ProjectModule, 'file' | 'exportName'>[] {
  return [...graphs, ...[embedding, login, app, mask].filter((each) => each !== undefined)]
}

const options = {
  platform: 'node',
  target: 'node24',
  logLevel: 'silent',
} as const satisfies BuildOptions

/**
 * Leaves installed packages, and what cannot be found, to Node. A link in node_modules to the
 * source of a workspace package counts as code of the project.
 */
const installedStay: Plugin = {
  name: 'installed packages stay',
  setup(build) {
    const isInstalled = async (path: string, place: ResolveOptions) => {
      const found = await build.resolve(path, { ...place, pluginData: installedStay })
      return found.errors.length > 0 || found.external || installed.test(found.path)
    }
    /** A cache: the files of a project import the same few packages. */
    const known = new Map<string, Promise<boolean>>()
    build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...place }) => {
      if (pluginData === installedStay || place.kind === 'entry-point') return undefined
      const question = [place.kind, place.resolveDir, path].join('\n')
      const stays = known.get(question) ?? isInstalled(path, place)
      known.set(question, stays)
      return await stays ? { path, external: true } : undefined
    })
  },
}

const installed = /[\\/]node_modules[\\/]/

/** Bundles only to learn which files there are and what each specifier in them resolves to. */
export async function discover(root: string, file: string): Promise<Discovery> {
  try {
    const { metafile } = await build({
      ...options,
      absWorkingDir: root,
      entryPoints: [file],
      outdir: root,
      bundle: true,
      plugins: [installedStay],
      external: ['*.node', '*.wasm'],
      format: 'esm',
      metafile: true,
      write: false,
    })
    return { inputs: metafile.inputs }
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>
    if (errors === undefined || errors.some(({ text }) => lacksResources(text))) throw error
    return { failure: errors.map(textOf).join('\n') }
  }
}

/** True if the compiler had no file descriptors, memory or disk space: the next one may have. */
function lacksResources(text: string): boolean {
  return /too many open files|cannot allocate memory|no space left|input\/output error/.test(text)
}

function textOf({ text, location }: Message): string {
  return location === null
    ? text
    : `${location.file}:${location.line}:${location.column + 1}: ${text}`
}

/**
 * The entries by path. A file that is also imported with attributes is listed twice, once with a
 * suffix.
 */
export function entriesOf(inputs: Metafile['inputs']): Inputs {
  return Object.entries(inputs).map(([path, input]) => [pathOf(path), input])
}

function pathOf(path: string): string {
  const suffix = path.endsWith('}') ? path.indexOf(' with {') : -1
  return suffix === -1 ? path : path.slice(0, suffix)
}

function resolutionsOf(root: string, inputs: Inputs): Map<string, Map<string, string>> {
  const url = (path: string) => pathToFileURL(resolve(root, pathOf(path))).href
  return new Map(inputs.map(([path, { imports }]) => [url(path), new Map(imports
    .filter(({ external }) => !external)
    .map((found) => [found.original ?? found.path, url(found.path)]))]
  ))
}

async function compile(root: string, inputs: Inputs): Promise<Map<string, ModuleSource>> {
  const formats = new Map(
    inputs.map(([path, { format }]) => [path, format === 'cjs' ? 'commonjs' : 'module'] as const),
  )
  const pathsOf = (wanted: ModuleSource['format']) =>
    [...formats].filter(([, format]) => format === wanted).map(([path]) => path)
  const commonjs = pathsOf('commonjs')
  const isPlain = (path: string) => plainCommonjs.test(path)
  const sources = await Promise.all([
    transpile(root, 'module', pathsOf('module')),
    transpile(root, 'commonjs', commonjs.filter((path) => !isPlain(path))),
    ...commonjs.filter(isPlain).map((path) => asItIs(resolve(root, path))),
  ])
  return new Map(sources.flat())
}

const plainCommonjs = /\.c?js$/

/**
 * Leaves an installed file as it is. Compiling could lose the names of exports, which bundlers
 * state for Node in code that never runs.
 */
async function asItIs(path: string): Promise<Compiled> {
  return [[pathToFileURL(path).href, { format: 'commonjs', source: await readFile(path, 'utf8') }]]
}

/**
 * Gives ES modules what code written for CommonJS expects, unless they define it. The names are our
 * own, because bundlers leave a `__require` behind.
 */
const commonjsWords = {
  define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename',
    require: '__heddleRequire', module: '__heddleModule' },
  banner: { js: `import { createRequire as __heddleCreate } from 'node:module';
    const __heddleRequire = __heddleCreate(import.meta.url), __heddleModule = { exports: {} };` },
} as const

/**
 * Compiles file by file. Uses esbuild's build, because its transform ignores each file's tsconfig.
 */
async function transpile(root: string, format: ModuleSource['format'],
  paths: readonly string[]): Promise<Compiled> {
  const files = paths.map((path) => resolve(root, path))
  const entryPoints = files.map((file, index) => ({ in: file, out: String(index) }))
  const { outputFiles } = await build({
    ...options,
    absWorkingDir: root,
    outdir: root,
    write: false,
    entryPoints,
    ...format === 'module' ? { format: 'esm', ...commonjsWords } : { format: 'cjs' },
    sourcemap: 'inline',
    sourcesContent: false,
    sourceRoot: `${pathToFileURL(root).href}/`,
  })
  return outputFiles.map((
    { path, text: source },
  ) => [pathToFileURL(files[Number(basename(path, '.js'))] ?? '').href, { format, source }])
}
