/** The command that resumes, updates or redirects a graph. */

import { Type } from 'typebox'

import { Json, JsonObject, Nullable } from './json.ts'

const Send = () => Type.Object({ node: Type.String(), input: Type.Optional(Json()) })

/** Schema of a LangGraph `Command`, in a run or a state update. */
export const Command = () =>
  Type.Object({
    resume: Type.Optional(Json({ description: 'The answer to an interrupt, or {id: answer}.' })),
    update: Type.Optional(Nullable(Type.Union([
      JsonObject(),
      Type.Array(Type.Array(Json(), { minItems: 2, maxItems: 2 })),
    ]))),
    goto: Type.Optional(Nullable(Type.Union([
      Type.String(),
      Send(),
      Type.Array(Type.Union([Type.String(), Send()])),
    ]))),
  })
