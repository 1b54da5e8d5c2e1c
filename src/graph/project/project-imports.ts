/** Imports of a project's own code: the packages that have to be there for it to run. */

import { resolve } from 'node:path'

import { discover, entriesOf, modulesIn } from './project-compiler.ts'
import type { Project } from './project.ts'

/** An import by a name: of a package, of a part of Node.js, or by an alias of own files. */
interface NamedImport {
  /** Absolute path of the importing file. */
  readonly importer: string
  /** As it is written: `zod/v4`, `node:fs`, `@/model`. */
  readonly specifier: string
  /** False where an own file was found by the name, or where the code can run without it. */
  readonly isRequired: boolean
}

/** Files and imports that were found, beginning at the files of the graphs. */
export interface ProjectImports {
  /** Absolute paths of all own files that are imported, those of the graphs among them. */
  readonly files: readonly string[]
  readonly named: readonly NamedImport[]
  /** A message for each graph that cannot be compiled. */
  readonly failures: readonly string[]
}

/** Reads what a project's files import. User code makes nothing throw. */
export async function importsOf(project: Project): Promise<ProjectImports> {
  const { root } = project
  const entries = modulesIn(project).map(({ file }) => file)
  const found = await Promise.all([...new Set(entries)].map((file) => discover(root, file)))
  const inputs = found.flatMap((each) => 'inputs' in each ? entriesOf(each.inputs) : [])
  const named = inputs.flatMap(([path, { imports }]) =>
    imports.map(({ external, original, path: found, kind }) => ({
      importer: resolve(root, path),
      specifier: original ?? found,
      isRequired: external === true && kind === 'import-statement',
    })).filter(({ specifier }) => !specifier.startsWith('.'))
  )
  return { named, files: [...new Set(inputs.map(([path]) => resolve(root, path)))],
    failures: found.flatMap((each) => 'failure' in each ? [each.failure] : []) }
}
