/** Finds the types of graphs in a compiled program: those of exports and those of nodes. */

import { compiler } from './compiler.ts'
import type { Checker, IsOwn, Node, Program, SourceFile, Type } from './compiler.ts'
import { TypeSchemas } from './type-schema.ts'
import type { JsonSchema } from './type-schema.ts'

/** Schemas that the types of a graph say; what they do not say is missing. */
export interface TypedSchemas {
  readonly input?: JsonSchema | undefined
  readonly output?: JsonSchema | undefined
  readonly state?: JsonSchema | undefined
  readonly context?: JsonSchema | undefined
}

/** A graph that is a node of another one. */
export interface TypedNode {
  readonly node: string
  readonly schemas: TypedSchemas
}

/** Reads the types of graphs. */
export class GraphTypes {
  readonly #program: Program
  readonly #checker: Checker
  readonly #schemas: TypeSchemas

  constructor(program: Program) {
    this.#program = program
    this.#checker = program.getTypeChecker()
    this.#schemas = new TypeSchemas(program)
  }

  /** The types of an exported graph, or of the one that an exported function or promise gives. */
  exported(file: string, name: string): TypedSchemas | undefined {
    const source = this.#program.getSourceFile(file)
    const module = source && this.#checker.getSymbolAtLocation(source)
    const found = module && this.#checker.getExportsOfModule(module)
      .find((each) => each.name === name)
    const graph = found && this.#graphOf(this.#checker.getTypeOfSymbol(found))
    return graph && this.#schemasOf(graph)
  }

  /** The graphs that the project's own files add as nodes: `.addNode('name', graph)`. */
  nodes(isOwn: IsOwn): TypedNode[] {
    return this.#program.getSourceFiles().filter(({ fileName }) => isOwn(fileName))
      .flatMap((file) => this.#nodesIn(file))
  }

  #nodesIn(file: SourceFile): TypedNode[] {
    const found: TypedNode[] = []
    const visit = (node: Node): void => {
      const added = addedNode(node, file)
      const graph = added && this.#graphWithin(added.action)
      if (graph) found.push({ node: added.name, schemas: this.#schemasOf(graph) })
      compiler.forEachChild(node, visit)
    }
    visit(file)
    return found
  }

  /** The graph that an expression is, or the first that a function in it names. */
  #graphWithin(node: Node): Type | undefined {
    const { Identifier, CallExpression } = compiler.SyntaxKind
    const canBe = node.kind === Identifier || node.kind === CallExpression
    const own = canBe ? this.#compiled(this.#checker.getTypeAtLocation(node)) : undefined
    return own ?? compiler.forEachChild(node, (child) => this.#graphWithin(child))
  }

  #graphOf(exported: Type): Type | undefined {
    const made = exported.getCallSignatures()[0]?.getReturnType() ?? exported
    const graph = this.#checker.getAwaitedType(made) ?? made
    return this.#compiled(graph)
  }

  /** A compiled graph as it is, what an agent holds, and what a builder compiles to. */
  #compiled(type: Type): Type | undefined {
    if (type.getProperty(inputName)) return type
    const inner = this.#member(type, 'graph')
    if (inner?.getProperty(inputName)) return inner
    const compiled = this.#member(type, 'compile')?.getCallSignatures()[0]?.getReturnType()
    return compiled?.getProperty(inputName) ? compiled : undefined
  }

  #schemasOf(graph: Type): TypedSchemas {
    const output = this.#member(graph, '~OutputType')
    return {
      input: this.#schema(this.#member(graph, inputName)),
      output: this.#schema(output && this.#checker.getAwaitedType(output)),
      state: this.#schema(this.#member(graph, '~RunOutput')),
      context: this.#contextOf(graph),
    }
  }

  /** The context is a set of channels. A graph without one has an index instead of their names. */
  #contextOf(graph: Type): JsonSchema | undefined {
    const builder = this.#member(graph, 'builder')
    const channels = builder && this.#member(builder, '_configSchema')
    const fields = channels?.getNonNullableType().getProperties() ?? []
    if (fields.length === 0) return undefined
    const properties = fields.map((field) => {
      const value = this.#valueOf(this.#checker.getTypeOfSymbol(field))
      return [field.name, this.#schema(value) ?? {}] as const
    })
    return { type: 'object', properties: Object.fromEntries(properties) }
  }

  /** The type of a channel's value, also where what makes it was named and not called. */
  #valueOf(channel: Type): Type | undefined {
    const own = this.#member(channel, 'ValueType')
    if (own !== undefined) return own
    const made = channel.getCallSignatures().map((each) => each.getReturnType())
    return made.map((each) => this.#member(each, 'ValueType')).find((each) => each !== undefined)
  }

  #schema(type: Type | undefined): JsonSchema | undefined {
    const { Any, Unknown, Never } = compiler.TypeFlags
    const saysNothing = type === undefined || (type.flags & (Any! | Unknown! | Never!)) !== 0
    return saysNothing ? undefined : this.#schemas.of(type)
  }

  #member(type: Type, name: string): Type | undefined {
    const member = type.getProperty(name)
    return member && this.#checker.getTypeOfSymbol(member)
  }
}

/** Member in which a compiled graph keeps the type of its input. */
const inputName = '~InputType'

/** The name and the action of a node, if this is a call that adds one. */
function addedNode(node: Node, file: SourceFile): {
  readonly name: string
  readonly action: Node
} | undefined {
  const { CallExpression, PropertyAccessExpression, StringLiteral } = compiler.SyntaxKind
  if (node.kind !== CallExpression) return undefined
  const { expression: called, arguments: [name, action] } = node as Call
  if (called.kind !== PropertyAccessExpression || called.name.getText(file) !== 'addNode') {
    return undefined
  }
  return name?.kind === StringLiteral && action
    ? { name: (name as Node & { readonly text: string }).text, action }
    : undefined
}

type Call = Node & {
  readonly expression: Node & { readonly name: Node }
  readonly arguments: readonly Node[]
}
