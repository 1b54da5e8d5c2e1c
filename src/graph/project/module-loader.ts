/** Serves a compiled project's modules to this thread, with the project's own LangGraph.js. */

import { createRequire, registerHooks, setSourceMapsSupport } from 'node:module'
import type { LoadHookSync, ResolveHookContext, ResolveHookSync } from 'node:module'
import { pathToFileURL } from 'node:url'

import { memberOf } from '../../json/index.ts'
import { asModule, FileKinds, moduleText } from './commonjs-package.ts'
import type { CompiledProject } from './project-compiler.ts'

/** Packages that Heddle ships with. A project that has its own copy runs on that. */
const brought = /^(@langchain\/|(langchain|zod)(\/|$))/
const engine = /^@langchain\/langgraph(\/|$)/

const sourceFolder = new URL('../..', import.meta.url).href

type Next = Parameters<ResolveHookSync>[2]

/**
 * Installs the loader. Call once in each thread, before anything imports @langchain/*. From then on
 * the project's files can be imported by their URLs, and Heddle's own imports of @langchain/* give
 * the modules that the project's graphs run on. Stack traces show the project's own lines.
 */
export function serveModules(project: CompiledProject): void {
  // Off for packages: reading their source maps would slow down every start.
  setSourceMapsSupport(true, { nodeModules: false })
  registerHooks({ resolve: resolveIn(project), load: loadFrom(project) })
}

function resolveIn({ root, graphs, sources, resolutions }: CompiledProject): ResolveHookSync {
  const projectUrl = pathToFileURL(`${root}/`).href
  // In a workspace the engine may be installed for the graphs' packages alone.
  const places = [...graphs.map(({ url }) => url), projectUrl]
  const kinds = new FileKinds()
  let engineUrl: string | undefined

  return (specifier, context, next) => {
    const { parentURL = projectUrl } = context
    const url = resolutions.get(parentURL)?.get(specifier)
    if (url !== undefined) return { url, shortCircuit: true }
    const requires = context.conditions.includes('require')
    if (!brought.test(specifier)) {
      const asCommonjs = !requires && sources.has(parentURL) && kinds.isCommonjs(parentURL)
      if (!asCommonjs) return next(specifier, context)
      const found = resolveAsRequired(specifier, { ...context, parentURL }, next)
      return isInstalledCommonjs(found)
        ? { ...found, url: asModule(found.url), format: 'module' }
        : found
    }
    // The package's CommonJS build would be a second instance. Node can require the ES modules.
    if (requires && sources.has(parentURL)) {
      return { url: import.meta.resolve(specifier), shortCircuit: true }
    }
    engineUrl ??=
      resolveFrom('@langchain/langgraph', [...places, import.meta.url], context, next).url
    const ours = parentURL.startsWith(sourceFolder)
    const importers = !ours
      ? [parentURL, engineUrl]
      // The packages that the engine itself uses, wherever they are installed.
      : engine.test(specifier)
      ? places
      : [engineUrl]
    return resolveFrom(specifier, [...importers, import.meta.url], context, next)
  }
}

/** Resolves as `import` does, otherwise as `require()`, which tries extensions and folders. */
function resolveAsRequired(specifier: string,
  context: ResolveHookContext & { readonly parentURL: string },
  next: Next): ReturnType<ResolveHookSync> {
  try {
    return next(specifier, context)
  } catch (error) {
    if (!isMissing(error)) throw error
    try {
      const file = createRequire(context.parentURL).resolve(specifier)
      return { url: pathToFileURL(file).href, format: 'commonjs', shortCircuit: true }
    } catch {
      throw error
    }
  }
}

/** Resolves for the first importer that can; otherwise throws the first one's error. */
function resolveFrom(specifier: string, importers: readonly string[], context: ResolveHookContext,
  next: Next): ReturnType<ResolveHookSync> {
  let refusal: unknown
  for (const parentURL of importers) {
    try {
      return next(specifier, { ...context, parentURL })
    } catch (error) {
      if (!isMissing(error)) throw error
      refusal ??= error
    }
  }
  throw refusal
}

/** True for a package's CommonJS file. Without a known format, Node decides by the text. */
function isInstalledCommonjs({ url, format }: ReturnType<ResolveHookSync>): boolean {
  return url.includes('/node_modules/')
    && (format === 'commonjs' || (format == null && url.endsWith('.js')))
}

function isMissing(error: unknown): boolean {
  const code = memberOf(error, 'code')
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    || code === 'ERR_UNSUPPORTED_DIR_IMPORT'
}

function loadFrom({ sources }: CompiledProject): LoadHookSync {
  return (url, context, next) => {
    const text = moduleText(url)
    if (text !== undefined) return { format: 'module', source: text, shortCircuit: true }
    const found = sources.get(url)
    // A JSON file is compiled for import only. Node itself can require() it.
    const required = url.endsWith('.json') && context.conditions.includes('require')
    return found === undefined || required
      ? next(url, context)
      : { ...found, shortCircuit: true }
  }
}
