/** Prompts as LangChain serialises them, for the pages that show them. */

const lc = (module: string, name: string, kwargs: object) => ({ lc: 1, type: 'constructor',
  id: ['langchain_core', 'prompts', module, name], kwargs })

/** A chat prompt of a system message and a question of a user. */
export const chatManifest = (system: string, user: string, more: readonly object[] = []) =>
  lc('chat', 'ChatPromptTemplate', {
    input_variables: [],
    messages: [['System', system], ['Human', user]].map(([role, template]) =>
      lc('chat', `${role}MessagePromptTemplate`, {
        prompt: lc('prompt', 'PromptTemplate', { input_variables: [], template,
          template_format: 'f-string' }),
      })
    ).concat(more as []),
  })

/** A place for messages. */
export const placeholder = (name: string) =>
  lc('chat', 'MessagesPlaceholder', { variable_name: name })
