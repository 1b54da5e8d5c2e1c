/**
 * Builds the components of one graph, in the form that `LoadExternalComponent` of the SDK loads: a
 * classic script whose variable has a function `render`. Code is compiled and never run.
 */

import { stat } from 'node:fs/promises'
import { extname, join, relative, resolve, sep } from 'node:path'

import { build } from 'esbuild'
import type { BuildFailure, Loader, Message, Plugin } from 'esbuild'

import type { UiEntry } from './ui-plan.ts'
import type { FileTimes } from '../file-times.ts'
import type { Bundled, BundlesWanted } from './bundle-mail.ts'
import { componentBytesMax, componentFile, componentLimits,
  globalNameOf } from './component-file.ts'
import type { ComponentFile } from './component-file.ts'

/** Modules that the SDK in the page brings, with all that is below them. */
const ofTheSdk = ['react', 'react-dom', '@langchain/langgraph-sdk']

const dataUrls = ['.png', '.jpg', '.jpeg', '.gif', '.webp', '.svg', '.woff', '.woff2']
const loader = Object.fromEntries(dataUrls.map((each): [string, Loader] => [each, 'dataurl']))

/** Components of one graph, or the reason why they cannot be built. */
export async function bundleOf({ root, within, shared }: Omit<BundlesWanted, 'entries'>,
  { graphId, file }: UiEntry): Promise<Bundled> {
  const seen = new SeenSources(within)
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      stdin: { contents: entryOf(file), resolveDir: root, sourcefile: 'components', loader: 'js' },
      outdir: join(root, 'components'),
      write: false,
      bundle: true,
      minify: true,
      platform: 'browser',
      target: 'es2020',
      format: 'iife',
      globalName: globalNameOf(graphId),
      jsx: 'automatic',
      loader,
      logLevel: 'silent',
      plugins: [fromThePage([...ofTheSdk, ...shared]), withoutTailwind(seen), bounded(seen)],
    })
    const files = outputFiles.map(({ path, contents }) =>
      componentFile(extname(path) === '.css' ? 'css' : 'js', contents)
    )
    const failure = tooLarge(files)
    if (failure !== undefined) return { graphId, failure: `${nameIn(root, file)}: ${failure}` }
    return { graphId, files, sources: seen.own, warnings: seen.warnings(root) }
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>
    if (errors === undefined) throw error
    return { graphId, failure: errors.map(textOf).join('\n') }
  }
}

/**
 * The script's own code. A name that the file does not have leaves the page with what it shows
 * meanwhile.
 */
function entryOf(file: string): string {
  return `import components from ${JSON.stringify(file)}
    export function render(name, place) {
      if (!Object.prototype.hasOwnProperty.call(components, name)) {
        console.error('There is no component ' + JSON.stringify(name) + '.')
        return
      }
      const target = document.createElement('div')
      document.getElementById(place).shadowRoot.append(target)
      window[Symbol.for('LGUI_EXT_STORE')].respond(place, components[name], target)
    }`
}

/** Takes modules from the page: a component must have the React that draws it. */
function fromThePage(names: readonly string[]): Plugin {
  return { name: 'modules of the page', setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      const isShared = kind !== 'import-rule' &&
        names.some((name) => path === name || path.startsWith(`${name}/`))
      return isShared ? { path, namespace: 'page' } : undefined
    })
    build.onLoad({ filter: /^/, namespace: 'page' }, ({ path }) => ({
      contents: `module.exports = globalThis[Symbol.for('LGUI_REQUIRE')](${JSON.stringify(path)})`,
      loader: 'js',
    }))
  } }
}

/** Leaves out Tailwind's own style sheets: they say nothing before Tailwind has run. */
function withoutTailwind(seen: SeenSources): Plugin {
  return { name: 'no tailwind', setup(build) {
    build.onResolve({ filter: /^tailwindcss(\/|$)/ }, ({ path, kind, importer }) => {
      if (kind !== 'import-rule') return undefined
      seen.tailwind.add(importer)
      return { path, namespace: 'tailwind' }
    })
    build.onLoad({ filter: /^/, namespace: 'tailwind' }, () => ({ contents: '', loader: 'css' }))
  } }
}

/** Looks at each source before it is read. */
function bounded(seen: SeenSources): Plugin {
  return { name: 'bounds', setup(build) {
    build.onLoad({ filter: /^/, namespace: 'file' }, async ({ path }) => {
      const fault = await seen.add(path)
      return fault === undefined ? undefined : { errors: [{ text: fault }] }
    })
  } }
}

/** The sources of a build, with their sum. */
class SeenSources {
  /** Style sheets that import Tailwind. */
  readonly tailwind = new Set<string>()
  readonly #within: string | undefined
  readonly #own = new Map<string, number>()
  #bytes = 0

  constructor(within: string | undefined) {
    this.#within = within
  }

  get own(): FileTimes {
    return [...this.#own]
  }

  warnings(root: string): readonly string[] {
    return [...this.tailwind].map((file) =>
      `${nameIn(root, file)} imports tailwindcss, which is not run: its classes have no rules. ` +
      'Make a style sheet with the command of Tailwind before, and import that.'
    )
  }

  /** Notes a source; returns why it may not be read. Links were followed before. */
  async add(path: string): Promise<string | undefined> {
    const within = this.#within
    if (within !== undefined && relative(within, path).split(sep)[0] === '..') {
      return `${path} lies outside of the project: copy it there.`
    }
    const { size, mtimeMs } = await stat(path)
    if (!/[\\/]node_modules[\\/]/.test(path)) this.#own.set(resolve(path), mtimeMs)
    this.#bytes += size
    return this.#bytes > componentLimits.sourceBytes
      ? `The sources have more than ${megabytes(componentLimits.sourceBytes)} together.`
      : undefined
  }
}

function tooLarge(files: readonly ComponentFile[]): string | undefined {
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0)
  if (bytes <= componentBytesMax) return undefined
  return `its components have ${megabytes(bytes)} when they are built, and may have ` +
    `${megabytes(componentBytesMax)}: import less, or name large modules in ` +
    'ui_config.shared'
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`

const nameIn = (root: string, file: string) => relative(root, file).replaceAll(sep, '/')

function textOf({ text, location }: Message): string {
  return location === null
    ? text
    : `${location.file}:${location.line}:${location.column + 1}: ${text}`
}
