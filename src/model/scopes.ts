/** What a credential may be allowed to do, as keys and accounts name it. */
export const SCOPES = ['lecture', 'ecriture', 'export'] as const
export type Scope = (typeof SCOPES)[number]
