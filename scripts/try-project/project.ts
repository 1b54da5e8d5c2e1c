/** A project as it lies in its folder: its graphs, its engine, and who installs its packages. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

/** What is known of a project before anything is run. */
export interface Project {
  readonly name: string
  /** Its langgraph.json. */
  readonly config: string
  /** The folder with the lock file, which is that of the workspace. */
  readonly home: string
  /** Files of its graphs. */
  readonly graphs: readonly string[]
  /** Names of its graphs, in the same order. */
  readonly names: readonly string[]
  /** Whether its own code makes a client of the API. */
  readonly hasClient: boolean
  /** Whether it has a login or routes of its own. */
  readonly hasLogin: boolean
}

/** How packages are installed. */
export interface Installer {
  readonly command: readonly string[]
  readonly variables: Readonly<Record<string, string>>
}

type Json = Readonly<Record<string, unknown>>

const lockFiles = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn', 'package-lock.json': 'npm' }

const readJson = (path: string) =>
  JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, '')) as Json

/** Reads the project in a folder, or of a langgraph.json. Throws an Error with a sentence. */
export function projectIn(path: string): Project {
  const config = path.endsWith('.json') ? resolve(path) : resolve(path, 'langgraph.json')
  if (!existsSync(config)) {
    throw new Error(`${config} does not exist: name the folder of a langgraph.json`)
  }
  const folder = dirname(config)
  const { graphs, auth } = readJson(config)
  const home = above(folder).find((one) =>
    Object.keys(lockFiles).some((file) => existsSync(join(one, file)))
  )
  return {
    name: basename(folder),
    config,
    home: home ?? folder,
    graphs: Object.values((graphs ?? {}) as Json).map((graph) =>
      resolve(folder, String((graph as Json)['path'] ?? graph).split(':')[0]!)
    ),
    names: Object.keys((graphs ?? {}) as Json),
    hasClient: makesClient(folder),
    hasLogin: Boolean(auth),
  }
}

/** A folder and those above it, up to that of the repository. */
function above(folder: string): string[] {
  const up = dirname(folder)
  return up === folder || existsSync(join(folder, '.git')) ? [folder] : [folder, ...above(up)]
}

/** The version of its engine, as installed; undefined if there is none. */
export function engineOf({ graphs, config }: Project): string | undefined {
  const folders = [...graphs, config].map(dirname).flatMap(above)
  const file = folders.map((one) => join(one, 'node_modules/@langchain/langgraph/package.json'))
    .find(existsSync)
  return file === undefined ? undefined : readJson(file)['version'] as string
}

/** The package manager that the project names, or whose lock file it has. Runs no scripts. */
export function installerOf({ home, config }: Project): Installer {
  const manifest = join(home, 'package.json')
  const named = existsSync(manifest) ? readJson(manifest)['packageManager'] : undefined
  const [manager = 'npm', version] = typeof named === 'string'
    ? named.split('+')[0]!.split('@')
    : [Object.entries(lockFiles).find(([file]) => existsSync(join(home, file)))?.[1]]
  const npx = ['npx', '--yes']
  if (manager === 'pnpm') {
    // Of a workspace, the project and the packages beside it that it needs: a web page stays away.
    const inside = relative(home, dirname(config))
    const filter = inside === '' ? [] : ['--filter', `{./${inside}}...`]
    return {
      command: [...npx, `pnpm@${version ?? '10'}`, 'install', '--prod', '--ignore-scripts',
        '--no-frozen-lockfile', ...filter],
      variables: {},
    }
  }
  if (manager === 'yarn' && /^[2-9]/.test(version ?? '1')) {
    return {
      command: [...npx, '--package', `@yarnpkg/cli-dist@${version}`, 'yarn', 'install',
        '--mode=skip-build'],
      variables: { YARN_NODE_LINKER: 'node-modules', YARN_ENABLE_IMMUTABLE_INSTALLS: '0' },
    }
  }
  if (manager === 'yarn') {
    return {
      command: [...npx, `yarn@${version ?? '1.22.22'}`, 'install', '--production',
        '--ignore-scripts', '--ignore-engines', '--non-interactive'],
      variables: {},
    }
  }
  return {
    command: ['npm', 'install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund',
      '--legacy-peer-deps'],
    variables: {},
  }
}

/** Folders that have no code of the project. */
const notOwn = new Set(['node_modules', 'dist', 'web', '.heddle', '.git', '.next'])

function makesClient(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return !notOwn.has(entry.name) && makesClient(path)
    if (!entry.isFile() || !/\.[cm]?[jt]sx?$/.test(entry.name)) return false
    const code = readFileSync(path, 'utf8')
    return code.includes('@langchain/langgraph-sdk') && /new Client\(/.test(code)
  })
}
