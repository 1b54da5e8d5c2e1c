/** Rules of ignore files: the files of a project that are not packed. */

/** Lines of one ignore file. */
export interface IgnoreFile {
  /** The folder that its patterns are about, from the root; empty for the root. */
  readonly folder: string
  /** `docker`: each pattern begins at the folder. `git`: only one with a slash does. */
  readonly form: 'git' | 'docker'
  readonly text: string
}

/** One line, as it is tried. */
interface Rule {
  readonly folder: string
  readonly pattern: RegExp
  readonly onlyFolders: boolean
  /** True for a line that begins with `!`. */
  readonly keeps: boolean
}

/**
 * Names that are never packed, whatever the ignore files say: secrets, installed packages, and
 * data.
 */
const neverPacked = /^(\.env.*|\.npmrc|\.git|\.heddle|node_modules|.*\.(pem|key))$/i

/** True for the name of a file or a folder that is in no revision. */
export function isNeverPacked(name: string): boolean {
  return neverPacked.test(name)
}

/** The ignore files of a folder that were read so far. */
export class IgnoreRules {
  readonly #rules: readonly Rule[]

  constructor(rules: readonly Rule[] = []) {
    this.#rules = rules
  }

  /** The same rules and those of more files, which win. */
  with(files: readonly IgnoreFile[]): IgnoreRules {
    return new IgnoreRules([...this.#rules, ...files.flatMap(rulesOf)])
  }

  /** True if the last line that matches the path excludes it. */
  ignores(path: string, isFolder: boolean): boolean {
    const last = this.#rules.findLast(({ folder, pattern, onlyFolders }) => {
      if (onlyFolders && !isFolder) return false
      if (folder === '') return pattern.test(path)
      return path.startsWith(`${folder}/`) && pattern.test(path.slice(folder.length + 1))
    })
    return last !== undefined && !last.keeps
  }
}

function rulesOf({ folder, form, text }: IgnoreFile): Rule[] {
  return text.replace(/^\uFEFF/, '').split(/\r?\n/).flatMap((line) => {
    const written = withoutBlanks(line)
    if (written === '' || written.startsWith('#')) return []
    const keeps = written.startsWith('!')
    const body = (keeps ? written.slice(1) : written).replace(/^\\(?=[#!])/, '')
    const onlyFolders = body.endsWith('/')
    const inner = body.replace(/\/$/, '')
    const begins = form === 'docker' || inner.includes('/')
    const glob = inner.replace(/^(\.?\/)+/, '')
    if (glob === '' || glob === '.') return []
    return [{ folder, keeps, onlyFolders, pattern: patternOf(begins ? glob : `**/${glob}`) }]
  })
}

/** The line without blanks at its end, except for one that a backslash keeps. */
function withoutBlanks(line: string): string {
  const text = line.trimEnd()
  return text.endsWith('\\') ? line.slice(0, text.length + 1) : text
}

const special: Readonly<Record<string, string>> = { '*': '[^/]*', '?': '[^/]' }

/** The pattern of a glob, for a whole path. */
function patternOf(glob: string): RegExp {
  const parts = glob.matchAll(/^\*\*\/|\/\*\*\/|\/\*\*$|\*+|\?|\[!?[^\]/]{1,64}\]|\\.|[^]/gu)
  const text = [...parts].map(([part]) => {
    if (part === '**/') return '(?:.*/)?'
    if (part === '/**/') return '/(?:.*/)?'
    if (part === '/**') return '/.+'
    if (part.startsWith('*')) return special['*']
    if (part.length > 2 && part.startsWith('[')) {
      return part.replace(/^\[!/, '[^').replaceAll('\\', '\\\\')
    }
    return special[part] ?? escaped(part.length === 2 ? part.replace(/^\\/, '') : part)
  }).join('')
  try {
    return new RegExp(`^${text}$`, 'su')
  } catch {
    // A range that goes backwards: git takes it for one that nothing matches.
    return /(?!)/
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')
}
