/** JSON Schemas of types that the checker has resolved. */

import { AnnotatedType, AnyType, createFormatter, createParser, DEFAULT_CONFIG,
  SchemaGenerator } from 'ts-json-schema-generator'
import type { BaseType, SubNodeParser } from 'ts-json-schema-generator'

import { objectOf } from '../../json/index.ts'
import { message } from '../project/message-schema.ts'
import { compiler } from './compiler.ts'
import type { Checker, Declared, Node, Program, Type } from './compiler.ts'

/** A JSON Schema, as an object with any members. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Characters of the longest schema of a field. A longer one says nothing to a person. */
const longest = 64 * 1024

/** Schema that no value fits: it stands for `undefined`, which JSON lacks. */
const never = { not: {} }

/** Converts types to JSON Schemas. */
export class TypeSchemas {
  readonly #checker: Checker
  readonly #generator: SchemaGenerator

  constructor(program: Program) {
    this.#checker = program.getTypeChecker()
    const config = { ...DEFAULT_CONFIG, tsProgram: program, expose: 'none', topRef: false,
      functions: 'hide', additionalProperties: true } as const
    const parser = createParser(program, config,
      (parser) => void parser.addNodeParser(new KnownTypes(program)))
    this.#generator = new SchemaGenerator(program, parser, createFormatter(config), config)
  }

  /** The schema of an object with named fields; of any other type if it has none. */
  of(type: Type): JsonSchema | undefined {
    const { Object: object, Intersection: both } = compiler.TypeFlags
    const named = (type.flags & (object! | both!)) !== 0 && !this.#checker.isArrayLikeType(type)
    const fields = named ? this.#checker.getPropertiesOfType(type) : []
    if (fields.length === 0) return this.#schemaOf(type)
    const definitions: JsonSchema = {}
    const properties = fields.map((field) => {
      const { definitions: own, ...schema } = this.#fieldOf(field)
      Object.assign(definitions, own)
      return [field.name, schema] as const
    })
    const required = fields.filter(({ flags }) => !(flags & compiler.SymbolFlags['Optional']!))
    return withPlainNames({ type: 'object', properties: Object.fromEntries(properties),
      ...required.length > 0 && { required: required.map(({ name }) => name) },
      ...Object.keys(definitions).length > 0 && { definitions } })
  }

  #fieldOf(field: Declared): JsonSchema {
    const description = compiler.displayPartsToString(field.getDocumentationComment(this.#checker))
    const schema = this.#schemaOf(this.#checker.getTypeOfSymbol(field)) ?? {}
    return description === '' ? schema : { description, ...schema }
  }

  /** Undefined if it is no JSON, or too much of it. */
  #schemaOf(type: Type): JsonSchema | undefined {
    try {
      const node = this.#nodeOf(type)
      if (node === undefined) return undefined
      const { $schema: _, definitions = {}, ...schema } = objectOf(
        normalized(this.#generator.createSchemaFromNodes([node])),
      )
      const whole = Object.keys(objectOf(definitions)).length > 0
        ? { ...schema, definitions }
        : schema
      return JSON.stringify(whole).length > longest ? undefined : whole
    } catch {
      // The generator does not know a part of it.
      return undefined
    }
  }

  /** The type as text would declare it: the generator reads declarations. */
  #nodeOf(type: Type): Node | undefined {
    const { NoTruncation, InTypeAlias, UseStructuralFallback, IgnoreErrors } =
      compiler.NodeBuilderFlags
    return this.#checker.typeToTypeNode(type, undefined,
      NoTruncation! | InTypeAlias! | UseStructuralFallback! | IgnoreErrors!)
  }
}

/** Types that are another JSON than their members say: messages, and classes of the language. */
class KnownTypes implements SubNodeParser {
  readonly #program: Program
  readonly #checker: Checker

  constructor(program: Program) {
    this.#program = program
    this.#checker = program.getTypeChecker()
  }

  supportsNode(node: Node): boolean {
    return node.kind === compiler.SyntaxKind['TypeReference'] && this.#schema(node) !== undefined
  }

  createType(node: Node): BaseType {
    return new AnnotatedType(new AnyType(), this.#schema(node) ?? {}, false)
  }

  #schema(node: Node): JsonSchema | undefined {
    const { typeName } = node as Node & { readonly typeName: Node & { readonly symbol?: Declared } }
    const named = this.#checker.getSymbolAtLocation(typeName) ?? typeName.symbol
    if (named === undefined) return undefined
    const symbol = named.flags & compiler.SymbolFlags['Alias']!
      ? this.#checker.getAliasedSymbol(named)
      : named
    const file = symbol.declarations?.[0]?.getSourceFile()
    if (file === undefined) return undefined
    if (this.#program.isSourceFileDefaultLibrary(file)) {
      return opaque.test(symbol.name) ? {} : undefined
    }
    if (!/\/@langchain\//.test(file.fileName)) return undefined
    if (symbol.name === 'OverwriteValue') return never
    return messages.test(symbol.name) ? message : undefined
  }
}

/** Classes of the language without a JSON form of their own. */
const opaque = /^((Weak|Readonly)?(Map|Set)|\w+Array|(Shared)?ArrayBuffer(Like)?|DataView|Promise)$/
/** Classes of LangChain's messages. */
const messages = /^((Base|Human|AI|System|Tool|Function|Chat|Remove)Message(Chunk)?)$/

/** Unions without the parts that stand for `undefined`, their texts sorted: they have no order. */
function normalized(schema: unknown, key?: string): unknown {
  if (Array.isArray(schema)) {
    const each = schema.map((one) => normalized(one))
    const texts = key === 'enum' && each.every((one) => typeof one === 'string')
    return texts ? each.toSorted() : each
  }
  if (typeof schema !== 'object' || schema === null) return schema
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, normalized(value, name)]),
  )
  if (!Array.isArray(anyOf)) return anyOf === undefined ? rest : { anyOf, ...rest }
  const kept = anyOf.filter((part) => !isNever(part))
  return kept.length === 1 ? { ...objectOf(kept[0]), ...rest } : { anyOf: kept, ...rest }
}

function isNever(schema: unknown): boolean {
  return JSON.stringify(schema) === JSON.stringify(never)
}

/** Names recursive types by number: the generator names them by their place in files. */
function withPlainNames(schema: JsonSchema): JsonSchema {
  const names = new Map(
    Object.keys(schema['definitions'] ?? {}).map((name, index) => [name, `type${index + 1}`]),
  )
  if (names.size === 0) return schema
  const renamed = (value: unknown, key?: string): unknown => {
    if (key === '$ref' && typeof value === 'string') {
      const name = decodeURIComponent(value.replace('#/definitions/', ''))
      return `#/definitions/${names.get(name) ?? name}`
    }
    if (Array.isArray(value)) return value.map((each) => renamed(each))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [
      key === 'definitions' ? names.get(name) ?? name : name,
      renamed(each, name),
    ]))
  }
  return objectOf(renamed(schema))
}
