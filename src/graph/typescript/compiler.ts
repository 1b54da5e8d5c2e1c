/** TypeScript's compiler, as the schema generator brings it, and a program of a project's files. */

import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Config, SchemaGenerator } from 'ts-json-schema-generator'

import { changedMs } from '../file-times.ts'
import type { FileTimes } from '../file-times.ts'

/** Every file of a project that is compiled, with its types. */
export type Program = NonNullable<Config['tsProgram']>
/** Answers what a type is. */
export type Checker = ReturnType<Program['getTypeChecker']>
/** A type as the checker resolved it. */
export type Type = ReturnType<Checker['getTypeOfSymbol']>
/** A name that is declared. */
export type Declared = Parameters<Checker['getTypeOfSymbol']>[0]
/** A part of the text of a file, or one made from a type. */
export type Node = Parameters<SchemaGenerator['createSchemaFromNodes']>[0][number]
/** A file of a program. */
export type SourceFile = ReturnType<Program['getSourceFiles']>[number]

type Options = ReturnType<Program['getCompilerOptions']>

interface Host {
  getSourceFile(name: string, ...rest: readonly unknown[]): SourceFile | undefined
  resolveModuleNameLiterals?(literals: readonly { readonly text: string }[], from: string,
    redirected: unknown, options: Options): readonly Resolved[]
}

interface Resolved {
  readonly resolvedModule: unknown
}

/**
 * The part of the compiler's API that is used. Its own types cannot be imported: the compiler that
 * Heddle itself is checked with is a newer one, without this API.
 */
interface Compiler {
  readonly sys: { readonly fileExists: unknown; readonly readFile: unknown;
    readonly useCaseSensitiveFileNames: boolean }
  createProgram(files: readonly string[], options: Options, host: Host): Program
  createCompilerHost(options: Options): Host
  createModuleResolutionCache(folder: string, name: (file: string) => string): unknown
  resolveModuleName(name: string, from: string, options: Options, host: Host, cache: unknown,
    redirected: unknown): Resolved
  findConfigFile(folder: string, exists: unknown): string | undefined
  readConfigFile(file: string, read: unknown): { readonly config?: object }
  parseJsonConfigFileContent(config: object, host: object, folder: string): {
    readonly options: Options
  }
  forEachChild<Result>(node: Node, visit: (child: Node) => Result | undefined): Result | undefined
  displayPartsToString(parts: ReturnType<Declared['getDocumentationComment']>): string
  readonly SyntaxKind: Readonly<Record<string, number>>
  readonly NodeBuilderFlags: Readonly<Record<string, number>>
  readonly SymbolFlags: Readonly<Record<string, number>>
  readonly TypeFlags: Readonly<Record<string, number>>
}

const generator = createRequire(import.meta.url).resolve('ts-json-schema-generator')

/** The compiler. It is loaded with this file, which takes some 300 ms. */
export const compiler = createRequire(generator)('typescript') as Compiler

/** Packages that Heddle serves to projects without copies of their own, as its loader does. */
const brought = /^(@langchain\/|(langchain|zod)(\/|$))/

/** True for a file of the project, which may itself be in a folder of packages. */
export type IsOwn = (fileName: string) => boolean

/**
 * Compiles files with all that they import. Nothing is checked yet: a type is resolved when it is
 * asked for.
 */
export function programOf(files: readonly string[]): {
  readonly program: Program
  readonly read: FileTimes
  readonly isOwn: IsOwn
} {
  const isOwn = besidePackages(files)
  const options = optionsFor(files[0]!)
  const host = compiler.createCompilerHost(options)
  const { getSourceFile } = host
  const read: [string, number][] = []
  host.getSourceFile = (name, ...rest) => {
    if (isOwn(name)) read.push([name, changedMs(name)])
    return getSourceFile(name, ...rest)
  }
  const cache = compiler.createModuleResolutionCache(dirname(files[0]!), (name) => name)
  host.resolveModuleNameLiterals = (literals, from, redirected, options) =>
    literals.map(({ text }) => {
      const resolve = (from: string) =>
        compiler.resolveModuleName(text, from, options, host, cache, redirected)
      const found = resolve(from)
      return found.resolvedModule !== undefined || !brought.test(text)
        ? found
        : resolve(fileURLToPath(import.meta.url))
    })
  return { program: compiler.createProgram(files, options, host), read, isOwn }
}

/** Packages that a project brings are below its files, or in a folder of packages elsewhere. */
function besidePackages(files: readonly string[]): IsOwn {
  const folders = [...new Set(files.map((file) => `${dirname(file).replaceAll('\\', '/')}/`))]
  return (name) =>
    [...folders, ''].some((folder) =>
      name.startsWith(folder) && !name.slice(folder.length).includes('node_modules/')
    )
}

/** The project's own options, but resolving as its files are loaded, and strict. */
function optionsFor(file: string): Options {
  const { findConfigFile, readConfigFile, parseJsonConfigFileContent, sys } = compiler
  const config = findConfigFile(dirname(file), sys.fileExists)
  const own = config === undefined
    ? {}
    : parseJsonConfigFileContent(readConfigFile(config, sys.readFile).config ?? {}, {
      ...sys,
      // The files of the project are known, so no folder is searched.
      readDirectory: () => [],
    }, dirname(config)).options
  return { ...own, ...settled }
}

/** As numbers of the compiler's enums: ESNext modules that are resolved as bundlers do. */
const settled = { noEmit: true, strict: true, skipLibCheck: true, allowJs: true, target: 99,
  module: 99, moduleResolution: 100, allowImportingTsExtensions: true } as Options
