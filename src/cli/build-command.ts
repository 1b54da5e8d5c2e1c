/** The command `heddle build`: makes a revision of a project, and says what is in it. */

import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { defaultDeploymentLimits } from '../deployment/index.ts'
import { HeddleError } from '../errors.ts'
import { buildRevision, checkGraphs, inTemporaryFolder, platformHere, platformName, RevisionCache,
  revisionHash, writingTo } from '../revision/index.ts'
import type { BuiltRevision, CheckedGraph, Manifest } from '../revision/index.ts'
import { CommandError } from './admin-command.ts'
import { ignoreAuthOption, platformIn } from './deploy/built-project.ts'
import { emptyFolder } from './empty-folder.ts'
import { megabytes } from './megabytes.ts'
import { runProjectCommand } from './project-command.ts'
import type { ProjectCommandSource } from './project-command.ts'

interface Typed {
  readonly config?: string
  readonly out?: string
  readonly check?: boolean
  readonly platform?: string
  readonly ignoreAuth?: boolean
  readonly json?: boolean
}

type Chunks = ReadonlyMap<string, Buffer>

/** Builds a revision. Throws CommandError. */
export function runBuildCommand(source: ProjectCommandSource): Promise<void> {
  const command = new Command('heddle build')
    .description('Packs a project and the packages that it needs, as they are installed.')
    .argument('[folder]', 'The project; by default the one here.')
    .option('--config <path>', 'Its langgraph.json, or the folder of it.')
    .option('--out <folder>', 'Write the manifest and the chunks there. It must be empty.')
    .option('--check', 'Fail if a graph cannot be loaded. By default, that is a warning.')
    .option('--no-check', 'Load no graph, and run no code of the project.')
    .option('--platform <name>', 'Where it is going to run, as linux-x64-glibc; by default here.')
    .addOption(ignoreAuthOption())
    .action((folder: string | undefined, typed: Typed) => build(source, folder, typed))
  return runProjectCommand(command, source)
}

async function build(source: ProjectCommandSource, folder: string | undefined,
  typed: Typed): Promise<void> {
  const env = systemEnv({ level: 'warn' })
  const startMs = env.monotonicMs()
  if (folder !== undefined && typed.config !== undefined) {
    throw new CommandError('Name the folder or --config, not both; see build --help', 'misused')
  }
  const platform = platformIn(typed.platform)
  const out = typed.out === undefined ? undefined : await emptyFolder(source.folder, typed.out)
  const chunks = new Map<string, Buffer>()
  const built = await buildRevision({
    config: resolve(source.folder, typed.config ?? folder ?? '.'),
    platform,
    ignoreAuth: typed.ignoreAuth,
    keep: async ({ sha256, data }) => void chunks.set(sha256, data),
  })
  for (const warning of built.warnings) source.note(`heddle: ${warning}\n`)
  const seconds = (env.monotonicMs() - startMs) / 1_000
  if (out !== undefined) await writingTo(out, () => write(out, built.manifest, chunks))
  const graphs = typed.check
    ? await checked(built, chunks, env, typed)
    : await checkedIfPossible(source, built, () => checked(built, chunks, env, typed), typed)
  source.print(typed.json ? jsonOf(built, graphs, out) : textOf({ built, graphs, out, seconds }))
  if (typed.check) refuseFailed(graphs ?? [])
}

/**
 * Loads the graphs if the revision runs on this machine, and notes a warning for each graph that
 * cannot be loaded: variables of the deployment may be missing here. Returns undefined if no graph
 * was loaded.
 */
async function checkedIfPossible({ note }: ProjectCommandSource,
  { manifest: { platform } }: BuiltRevision, check: () => Promise<readonly CheckedGraph[]>,
  typed: Typed): Promise<readonly CheckedGraph[] | undefined> {
  if (typed.check === false) return undefined
  if (platform !== null && platform !== platformName(platformHere())) {
    note(`heddle: The graphs were not loaded, because the revision runs on ${platform} only.\n`)
    return undefined
  }
  const warn = (text: string, reason = ': variables of the deployment may be missing here') =>
    note(`heddle: ${text}\nheddle: The revision was built in spite of it${reason}. --check fails ` +
      'then, --no-check loads no graph.\n')
  try {
    const graphs = await check()
    const failed = failuresOf(graphs)
    if (failed.length > 0) warn(failed.join('\nheddle: '))
    return graphs
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof HeddleError)) throw error
    // An error of the system, such as a full disk of temporary files, is no fault of the project.
    warn(`The graphs cannot be loaded: ${error.message}`,
      error instanceof HeddleError ? '' : undefined)
    return undefined
  }
}

/**
 * Writes the revision to a folder. The manifest comes last: a folder that has one is whole. If the
 * folder lies in the project, the next build does not pack it.
 */
async function write(out: string, manifest: Manifest, chunks: Chunks): Promise<void> {
  await mkdir(join(out, 'chunks'), { recursive: true })
  await writeFile(join(out, '.gitignore'), '*\n')
  for (const [sha256, data] of chunks) await writeFile(join(out, 'chunks', sha256), data)
  await writeFile(join(out, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/**
 * Loads the graphs from the packed files, not from the project's folder. Variables of the shell
 * stand for the secrets of a deployment.
 */
async function checked({ manifest, env: variables }: BuiltRevision, chunks: Chunks, env: Env,
  { ignoreAuth = false }: Typed): Promise<readonly CheckedGraph[]> {
  const directory = await inTemporaryFolder(async () =>
    realpath(await mkdtemp(join(tmpdir(), 'heddle-check-')))
  )
  try {
    const cache = await RevisionCache.open({ directory, label: directory, bytesMax: Infinity, env })
    const held = await cache.hold(manifest, async (sha256) => chunks.get(sha256)!)
    const { workers, memory_mb: memoryMb } = defaultDeploymentLimits
    // Its log is silent, because the answer has all messages.
    const silent = systemEnv({ level: 'silent' })
    return await checkGraphs({ held, manifest, workers, memoryMb, ignoreAuth, env: silent,
      variables: { ...variables, ...process.env as Record<string, string> } })
      .catch(({ message }: Error) => Promise.reject(new CommandError(message, 'refused')))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function refuseFailed(graphs: readonly CheckedGraph[]): void {
  const failed = failuresOf(graphs)
  if (failed.length > 0) throw new CommandError(failed.join('\n'), 'refused')
}

function failuresOf(graphs: readonly CheckedGraph[]): readonly string[] {
  return graphs.filter(({ failure }) => failure !== null)
    .map(({ graphId, failure }) => `The graph "${graphId}" cannot be loaded: ${failure}`)
}

/** Counts and sizes of the parts of a revision. */
function sizesOf({ archives }: Manifest) {
  const sum = (of: (archive: Manifest['archives'][number]) => number) =>
    archives.reduce((total, archive) => total + of(archive), 0)
  return {
    packages: archives.filter(({ kind }) => kind === 'package').length,
    own_files: archives.find(({ kind }) => kind === 'own')?.files ?? 0,
    files: sum(({ files }) => files),
    bytes: sum(({ bytes }) => bytes),
    compressed_bytes: sum(({ chunks }) => chunks.reduce((total, { bytes }) => total + bytes, 0)),
    chunks: new Set(archives.flatMap(({ chunks }) => chunks.map(({ sha256 }) => sha256))).size,
  }
}

function jsonOf({ manifest, warnings }: BuiltRevision, graphs: readonly CheckedGraph[] | undefined,
  out: string | undefined): string {
  const answer = { revision: revisionHash(manifest), ...sizesOf(manifest),
    platform: manifest.platform, warnings, out,
    graphs: graphs?.map(({ graphId: graph_id, nodes, failure }) => ({ graph_id, nodes, failure })) }
  return `${JSON.stringify(answer)}\n`
}

interface Report {
  readonly built: BuiltRevision
  readonly graphs: readonly CheckedGraph[] | undefined
  readonly out: string | undefined
  readonly seconds: number
}

function textOf({ built: { manifest }, graphs, out, seconds }: Report): string {
  const { packages, own_files, files, bytes, compressed_bytes, chunks } = sizesOf(manifest)
  const lines = [
    ['build', `${packages} packages, ${own_files} own files  ${seconds.toFixed(1)} s`],
    ['size',
      `${files} files, ${megabytes(bytes)} MB; ${megabytes(compressed_bytes)} MB compressed, ` +
      `in ${chunks} chunks`],
    ...manifest.platform === null ? [] : [['platform', manifest.platform]],
    ...(graphs ?? []).map((
      { graphId, nodes, failure },
    ) => ['check', `${graphId}: ${failure === null ? nodes.join(', ') : 'cannot be loaded'}`]),
    ...out === undefined ? [] : [['out', out]],
    ['revision', revisionHash(manifest)],
  ]
  return lines.map(([name, text]) => `${name!.padEnd(10)}${text}\n`).join('')
}
