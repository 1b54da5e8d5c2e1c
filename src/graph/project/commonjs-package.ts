/** Installed CommonJS packages as TypeScript and bundlers give them to files of CommonJS type. */

import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

import { memberOf, valueIn } from '../../json/index.ts'

const mark = '?as=module'

/** The URL at which a CommonJS file is served as a module with all names of its exports. */
export function asModule(url: string): string {
  return url + mark
}

/**
 * The text of that module; undefined for other URLs. Node itself would export only the names that
 * it finds in the file's text, and always all exports together as the default.
 */
export function moduleText(url: string): string | undefined {
  if (!url.endsWith(mark)) return undefined
  const file = fileURLToPath(url.slice(0, -mark.length))
  const exported = createRequire(import.meta.url)(file) as object | null | undefined
  const names = Object.keys(exported ?? {})
    .filter((name) => name !== 'default' && isName.test(name))
  return `import { createRequire } from 'node:module'
    const all = createRequire(import.meta.url)(${JSON.stringify(file)})
    const read = (name) => { try { return all[name] } catch {} }
    export default all?.__esModule ? all.default : all
    const [${names.map((_, at) => `_${at}`).join()}] = ${JSON.stringify(names)}.map(read)
    export { ${names.map((name, at) => `_${at} as ${name}`).join()} }`
}

const isName = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/** Knows which files are of CommonJS type: by their extension, or by their package.json. */
export class FileKinds {
  readonly #folders = new Map<string, boolean>()

  isCommonjs(url: string): boolean {
    if (/\.m[jt]s$/.test(url)) return false
    if (url.endsWith('.cts')) return true
    const folder = new URL('.', url).href
    const known = this.#folders.get(folder) ?? typeFor(url) !== 'module'
    this.#folders.set(folder, known)
    return known
  }
}

function typeFor(url: string): unknown {
  const file = findPackageJSON(url)
  // Without a package.json, Node returns the file itself.
  return file === undefined || basename(file) !== 'package.json'
    ? undefined
    : memberOf(valueIn(readFileSync(file, 'utf8')), 'type')
}
