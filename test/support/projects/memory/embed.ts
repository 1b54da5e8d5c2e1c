/** An embedding that counts words, and fails in the way that a text asks for. */

const words = ['plum', 'tram', 'sea']

function vectorOf(text: string): number[] {
  return words.map((word) => text.split(word).length - 1)
}

export const embed = {
  async embedDocuments(texts: string[]): Promise<unknown> {
    const asked = texts.find((text) => text.startsWith('!'))
    if (asked === '!throws') throw new Error('no model today')
    if (asked === '!short') return [[1, 2]]
    if (asked === '!text') return 'a text'
    if (asked === '!few') return []
    if (asked === '!nan') return [[1, Number.NaN, 2]]
    if (asked === '!infinite') return [[1, Infinity, 2]]
    return texts.map((text) => Float32Array.from(vectorOf(text)))
  },
  embedQuery: async (text: string) => vectorOf(text),
}
