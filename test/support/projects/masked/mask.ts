/** Redacts names of customers, and fails for some texts. */

interface Part {
  readonly kind: string
}

export async function mask(text: string, { kind }: Part): Promise<string> {
  if (kind === 'request' && text.includes('unmaskable')) throw new Error('No.')
  return text.replaceAll(/customer-\w+/g, '<customer>')
}
