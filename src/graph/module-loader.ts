/** Serves a compiled project's modules to this thread, with the project's own LangGraph.js. */

import { registerHooks, setSourceMapsSupport } from 'node:module'
import type { LoadHookSync, ResolveHookContext, ResolveHookSync } from 'node:module'
import { pathToFileURL } from 'node:url'

import type { CompiledProject } from './project-compiler.ts'

/** Packages that Heddle ships with; a project that has its own copy runs on that. */
const brought = /^(@langchain\/|(langchain|zod)(\/|$))/
const engine = /^@langchain\/langgraph(\/|$)/

const sourceFolder = new URL('..', import.meta.url).href

type Next = Parameters<ResolveHookSync>[2]

/**
 * Call it once per thread, before anything imports @langchain/*. From then on the project's files
 * can be imported by their URLs, and Heddle's own imports of @langchain/* give the modules that
 * the project's graphs run on. Stack traces show the project's own lines.
 */
export function serveModules(project: CompiledProject): void {
  // Not for packages: reading their source maps would slow down every start.
  setSourceMapsSupport(true, { nodeModules: false })
  registerHooks({ resolve: resolveIn(project), load: loadFrom(project) })
}

function resolveIn({ root, graphs, sources, resolutions }: CompiledProject): ResolveHookSync {
  const projectUrl = pathToFileURL(`${root}/`).href
  // In a workspace the engine may be installed for the graphs' packages alone.
  const places = [...graphs.map(({ url }) => url), projectUrl]
  let engineUrl: string | undefined

  return (specifier, context, next) => {
    const { parentURL = projectUrl } = context
    const url = resolutions.get(parentURL)?.get(specifier)
    if (url !== undefined) return { url, shortCircuit: true }
    if (!brought.test(specifier)) return next(specifier, context)
    // The package's CommonJS build would be a second instance; Node can require the ES modules.
    if (context.conditions.includes('require') && sources.has(parentURL)) {
      return { url: import.meta.resolve(specifier), shortCircuit: true }
    }
    engineUrl ??= resolveFrom('@langchain/langgraph', [...places, import.meta.url],
      context, next).url
    const ours = parentURL.startsWith(sourceFolder)
    const importers = !ours ? [parentURL, engineUrl]
      // The packages that the engine itself uses, wherever they are installed.
      : engine.test(specifier) ? places : [engineUrl]
    return resolveFrom(specifier, [...importers, import.meta.url], context, next)
  }
}

/** Resolves as seen by the first importer that can; otherwise throws the first one's error. */
function resolveFrom(specifier: string, importers: readonly string[],
  context: ResolveHookContext, next: Next): ReturnType<ResolveHookSync> {
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

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
}

function loadFrom({ sources }: CompiledProject): LoadHookSync {
  return (url, context, next) => {
    const found = sources.get(url)
    // A JSON file is compiled for import only: Node itself can require() it.
    const required = url.endsWith('.json') && context.conditions.includes('require')
    return found === undefined || required ? next(url, context)
      : { ...found, shortCircuit: true }
  }
}
