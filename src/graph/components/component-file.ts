/** The files that pages load for the components of a graph: a script, and a style sheet if any. */

import { createHash } from 'node:crypto'

/** A file of components. Its name changes with its content. */
export interface ComponentFile {
  readonly name: string
  readonly content: Uint8Array
}

/** Components of one graph, built. */
export interface GraphComponents {
  readonly graphId: string
  readonly files: readonly ComponentFile[]
}

/** Bytes of all files of one graph. */
export const componentBytesMax = 8 * 1024 * 1024

/** Further bounds of what is built. */
export const componentLimits = {
  /** Bytes of all sources that one graph's components are made of. */
  sourceBytes: 64 * 1024 * 1024,
  /** Bytes of all files of a project. */
  projectBytes: 32 * 1024 * 1024,
  /** Milliseconds that all components of a project may take. */
  buildMs: 60_000,
} as const

const form = /^ui-[0-9a-f]{32}\.(js|css)$/

/** True for a name that a file of components may have. */
export function isComponentFile(name: string): boolean {
  return form.test(name)
}

/** A file with the name that its content has. */
export function componentFile(kind: 'js' | 'css', content: Uint8Array): ComponentFile {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 32)
  return { name: `ui-${hash}.${kind}`, content }
}

/** Name of the variable in which the script of a graph leaves its function `render`. */
export function globalNameOf(graphId: string): string {
  return `__LGUI_${graphId.replace(/[^a-zA-Z0-9]/g, '_')}`
}
