/** The repository's own source files for tests: text, code, imports, exports. */

import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Path of the repository. */
export const root = resolve(import.meta.dirname, '../..')

/** A source file, taken apart. */
export interface SourceFile {
  /** Path from the root, with `/`. */
  readonly path: string
  readonly text: string
  /** The text without comments. */
  readonly code: string
  /** The text without comments and quoted text. */
  readonly bare: string
  readonly imports: readonly Import[]
  /** Exported values, including re-exports; types are left out. */
  readonly exports: readonly string[]
}

/** What one file imports of another. */
export interface Import {
  /** A path from the root for a file of ours, otherwise the name of a package. */
  readonly target: string
  readonly ours: boolean
  /** Names as in the exporting file; `*` for all, none if the file is only run. */
  readonly names: readonly string[]
}

/** Folders and files of .gitignore. */
const notOurs = /(^|\/)(\.git|node_modules|\.heddle)$|^(proto\/gen|dist)$|\.log$|^test-report/

/** Every file that is or would be in the repository, from the root. */
export function repositoryFiles(folder = ''): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .toSorted((a, b) => a.name < b.name ? -1 : 1)
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (notOurs.test(path)) return []
      return entry.isDirectory() ? repositoryFiles(path) : [path]
    })
}

/** Reads a file. `path` is from the root. */
export function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  const code = text.replaceAll(commentOrQuote, (found) => found.startsWith('/') ? '' : found)
  const bare = code.replaceAll(commentOrQuote, (found) => found[0]! + found.at(-1)!)
  return { path, text, code, bare, imports: importsOf(path, code), exports: exportsOf(code) }
}

const commentOrQuote =
  /\/\*[^]*?\*\/|(?<![:\\])\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g

const importing = /\b(?:import|export)\s+(?:type\s+)?([\w*\s{},$]*?)\s*\bfrom\s*['"]([^'"]+)['"]/g
const importingOnly = /\bimport\s*\(?\s*['"]([^'"]+)['"]/g
const starting = /\bnew URL\(\s*['"](\.[^'"]+\.[mc]?[jt]s)['"],\s*import\.meta\.url/g

function importsOf(path: string, code: string): Import[] {
  const named = [...code.matchAll(importing)]
    .map(([, names, target]) => importOf(path, target!, namesIn(names!)))
  const unnamed = [...code.matchAll(importingOnly)]
    .map(([, target]) => importOf(path, target!, ['*']))
  const started = [...code.matchAll(starting)].map(([, target]) => importOf(path, target!, []))
  return [...named, ...unnamed, ...started]
}

function importOf(path: string, target: string, names: readonly string[]): Import {
  if (!target.startsWith('.')) return { target, ours: false, names }
  const resolved = join('/', path, '..', target).slice(1).replaceAll('\\', '/')
  return { target: resolved, ours: true, names }
}

/** `a, { b as c, type d }` names the default, b and d. */
function namesIn(clause: string): string[] {
  const [, before = '', braced = ''] = /^([^{]*)(?:\{([^}]*)\})?/.exec(clause) ?? []
  const whole = before.includes('*') ? ['*'] : before.trim() === '' ? [] : ['default']
  const some = braced.split(',').map((name) => name.trim().replace(/^type\s+/, '').split(/\s+/)[0]!)
  return [...whole, ...some.filter((name) => name !== '')]
}

const declaring = new RegExp(/^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?/.source +
  /(?:const|let|function\*?|class)\s+(\w+)/.source, 'gm')
const passingOn = /^export\s+\{([^}]*)\}/gm

function exportsOf(code: string): string[] {
  const declared = [...code.matchAll(declaring)].map(([, name]) => name!)
  const passed = [...code.matchAll(passingOn)].flatMap(([, names]) => names!.split(','))
    .map((name) => name.trim().split(/\s+as\s+/).at(-1)!)
  return [...declared, ...passed.filter((name) => name !== '' && !name.startsWith('type '))]
}
