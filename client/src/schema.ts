// Made from docs/openapi.json by `npm run client:types`; do not change it by hand.

export interface paths {
    "/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sign in, with the login and the password in the query
         * @description For programs: a browser that navigates here is refused. The query never reaches a log of ours, but it may reach others: prefer POST. An operator can turn this form off.
         */
        get: operations["get_login"];
        put?: never;
        /**
         * Sign in
         * @description Creates a session of at most 30 days, or 7 without use, and sets it as a cookie.
         */
        post: operations["post_login"];
        /** End the session */
        delete: operations["delete_login"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/challenges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search challenges
         * @description By id, ascending. Filters combine with AND.
         */
        get: operations["get_challenges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/challenges/{id_challenge}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a challenge */
        get: operations["get_challenges_id_challenge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/challenges/{id_challenge}/validations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who solved a challenge, the first solver first
         * @description By date, then author's id; unknown dates last.
         */
        get: operations["get_challenges_id_challenge_validations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/challenges/{id_challenge}/progression": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how the solves of a challenge grew
         * @description A point for each date of a validation while 60 validations at most have one, else 60 dates at equal distances from the first to the last.
         */
        get: operations["get_challenges_id_challenge_progression"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rubriques": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the categories, all of them
         * @description By id, ascending.
         */
        get: operations["get_rubriques"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auteurs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search authors
         * @description By id, ascending; an object whose keys "0", "1", … restart on each page. Filters combine with AND.
         */
        get: operations["get_auteurs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auteurs/{id_auteur}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an author */
        get: operations["get_auteurs_id_auteur"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auteurs/{id_auteur}/progression": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how an author's score grew
         * @description A point for each date of a validation while they are 500 at most, else 500 of them, the last included.
         */
        get: operations["get_auteurs_id_auteur_progression"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groupes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the groups of ranked authors
         * @description By name, ignoring case and accents. `nb_auteurs` counts the authors who hold a place.
         */
        get: operations["get_groupes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/classement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the ranking by score
         * @description Score descending, then id ascending; if dates break ties, the author who reached the score first comes first. By category or period: the points earned there, without the base of a score, of the authors who have a validation there. By group or ids: the places among these authors; those who hold no place are left out. At most one of `id_rubrique`, `periode`, `groupe` and `id_auteur[]`.
         */
        get: operations["get_classement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/classement/histogramme": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how the scores are spread
         * @description How many ranked authors have how many points, in at most 30 ranges whose width is 1, 2 or 5 times a power of ten.
         */
        get: operations["get_classement_histogramme"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/classement/periodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the years and months that have a ranking
         * @description The years in which a ranked author has a dated validation, latest first, at most a hundred, with their months.
         */
        get: operations["get_classement_periodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/classement/regles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the rules of the rankings
         * @description The rules of every ranking, as the operator has set them.
         */
        get: operations["get_classement_regles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/environnements_virtuels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search virtual environments
         * @description By id, ascending. Filters combine with AND.
         */
        get: operations["get_environnements_virtuels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/environnements_virtuels/{id_environnement_virtuel}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a virtual environment */
        get: operations["get_environnements_virtuels_id_environnement_virtuel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/validations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply validations and other records as they come
         * @description Lines of the dump, NDJSON, or one of them as a JSON object. They are applied in their order and in one transaction; a refused line does not affect the others. A line replaces its record whole, unless it has `partiel`. Validations may be sent again. Scores, places, counts and first validations are right in the next request. Takes the scope `ecriture`.
         */
        post: operations["post_validations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the whole portal, or all rows of a resource
         * @description One version of the data, whole, in one answer; without `ressource` the dump that `palmares import` takes, never with accounts. Compressed where Accept-Encoding takes gzip. An answer that was cut off ends without the end of its encoding: drop it. Takes the scope `export`.
         */
        get: operations["get_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ctftime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the feed of results that CTFtime polls
         * @description Every ranked author in the order of the ranking. Points are those that a challenge is worth now. Open to all where the operator says so.
         */
        get: operations["get_ctftime"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/compte": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the account of the credential */
        get: operations["get_compte"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cles_api": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the valid API keys of the account */
        get: operations["get_cles_api"];
        put?: never;
        /** Create an API key; it is shown only once */
        post: operations["post_cles_api"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cles_api/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an API key */
        delete: operations["delete_cles_api_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/exploitation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the state of the server and its data
         * @description For an operator's own session. Counts of requests only grow, until the process ends: a rate is the difference of two answers over the time between them.
         */
        get: operations["get_exploitation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/validations/gelees": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the validations that are stored but not shown
         * @description For an operator's own session. By date, unknown dates last, then by author and challenge.
         */
        get: operations["get_validations_gelees"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A problem of RFC 9457. */
        Problem: {
            /** Format: uri */
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @enum {string} */
            code: "malformed_request" | "invalid_parameter" | "invalid_body" | "too_many_keys" | "credential_missing" | "credential_invalid" | "credential_expired" | "credential_revoked" | "login_refused" | "foreign_origin" | "session_required" | "scope_required" | "operator_required" | "path_not_found" | "resource_not_found" | "method_not_allowed" | "request_timeout" | "body_too_large" | "uri_too_long" | "unsupported_media_type" | "rate_limited" | "address_limited" | "login_throttled" | "http_1_1_required" | "headers_too_large" | "internal_error" | "transfer_coding_unsupported" | "store_unavailable" | "search_too_broad" | "overloaded" | "http_version_unsupported";
            request_id: string;
            /** @description Present with status 400. */
            errors?: {
                parameter: string;
                message: string;
            }[];
        };
    };
    responses: {
        /** @description `malformed_request`: The request is not well-formed HTTP. `invalid_parameter`: A parameter is not valid. `invalid_body`: The body is not valid for this operation. `too_many_keys`: An account has at most 20 valid keys; revoke one first. */
        Problem400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `credential_missing`: Send the cookie service_session, the cookie api_key, or Authorization: Bearer with an API key. `credential_invalid`: No account has this credential. `credential_expired`: This credential has expired; create a new one. `credential_revoked`: This credential was revoked; create a new one. `login_refused`: The login or the password is wrong. */
        Problem401: {
            headers: {
                /** @description The scheme to use. */
                "WWW-Authenticate"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `foreign_origin`: A page of another origin may not do this. `session_required`: Sign in with /login; an API key cannot do this. `scope_required`: This credential does not have the scope that this takes. `operator_required`: Only an account that is marked operator may do this. */
        Problem403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `path_not_found`: Nothing is served at this path; /openapi.json lists what is. `resource_not_found`: The portal has nothing with this id. */
        Problem404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `request_timeout`: The request took too long to arrive. */
        Problem408: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `body_too_large`: The body is larger than this path takes. */
        Problem413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `uri_too_long`: The request line is longer than 8 KiB. */
        Problem414: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unsupported_media_type`: This path takes another Content-Type, in UTF-8 and without a Content-Encoding; see /openapi.json. */
        Problem415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `http_1_1_required`: This answer is streamed; use HTTP/1.1. */
        Problem426: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `rate_limited`: This account has used its requests; wait for Retry-After. `address_limited`: This address has used its requests without a valid credential; wait for Retry-After. `login_throttled`: Too many logins failed; wait for Retry-After. */
        Problem429: {
            headers: {
                /** @description Seconds. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `headers_too_large`: The address and the headers are larger together than this server takes. */
        Problem431: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `internal_error`: Something failed on our side; the log has it under this request_id. */
        Problem500: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `transfer_coding_unsupported`: Only Transfer-Encoding: chunked is supported. */
        Problem501: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `store_unavailable`: The store cannot answer now; retry after Retry-After. `search_too_broad`: This search took too long. Use narrower filters, or retry after Retry-After. `overloaded`: The server is overloaded; retry after Retry-After. */
        Problem503: {
            headers: {
                /** @description Seconds. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `http_version_unsupported`: This server speaks HTTP/1.1 and HTTP/1.0; put a proxy before it for later versions. */
        Problem505: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description A strong tag of the body. */
        ETag: string;
        /** @description first, prev, next and last, as RFC 8288 has them. */
        Link: string;
        /** @description Rows in all; absent for a text filter with more than 1,000. */
        "X-Total-Count": number;
        /** @description Query parameters that the operation does not know, separated by commas, each percent-encoded; absent if it knows all. At most 10, each cut after 30 characters. */
        "X-Parametres-Ignores": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_login: {
        parameters: {
            query: {
                /** @description The user's login. */
                login: string;
                /** @description The user's password. */
                password: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The session, also set as the cookie service_session. */
                        service_session: string;
                        /** @description An identifier, carried as a string of digits. */
                        id_auteur: string;
                        /**
                         * Format: date-time
                         * @description UTC, whole seconds.
                         */
                        expiration: string;
                    };
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    post_login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    login: string;
                    password: string;
                };
                "application/x-www-form-urlencoded": {
                    login: string;
                    password: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The session, also set as the cookie service_session. */
                        service_session: string;
                        /** @description An identifier, carried as a string of digits. */
                        id_auteur: string;
                        /**
                         * Format: date-time
                         * @description UTC, whole seconds.
                         */
                        expiration: string;
                    };
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            408: components["responses"]["Problem408"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    delete_login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is no body. */
            204: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_challenges: {
        parameters: {
            query?: {
                /** @description Text that the title contains, whatever its case and accents. */
                titre?: string;
                /** @description Text that the subtitle contains, whatever its case and accents. */
                soustitre?: string;
                /** @description The language, ignoring ASCII case. */
                lang?: string;
                /** @description The score. */
                score?: number;
                /** @description The category. */
                id_rubrique?: number;
                /** @description Challenges written by any of these authors. */
                "id_auteur[]"?: number[];
                /** @description Zero-based row that the page of challenges starts at; past the end the list is empty. */
                debut_challenges?: number;
                /** @description Rows a page. */
                limite?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier. */
                        id_challenge: number;
                        /** @description Title. */
                        titre: string;
                        /** @description Subtitle. */
                        soustitre: string;
                        /** @description Language. */
                        lang: string;
                        /** @description Points. */
                        score: number;
                        /** @description An identifier. */
                        id_rubrique: number;
                        /** @description The category's name. */
                        rubrique: string;
                        /** @description Difficulty. */
                        difficulte: string;
                        id_trad: number | null;
                        /**
                         * Format: uri
                         * @description Absolute address of the challenge's page on the portal.
                         */
                        url_challenge: string;
                        date_publication: string | null;
                        nb_validations: number;
                    }[];
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_challenges_id_challenge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The challenge. */
                id_challenge: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Title. */
                        titre: string;
                        /** @description Description, an HTML fragment of the portal. */
                        descriptif: string;
                        /** @description Points. */
                        score: number;
                        /** @description An identifier. */
                        id_rubrique: number;
                        /** @description An identifier. */
                        id_challenge: number;
                        /** @description Subtitle. */
                        soustitre: string;
                        /** @description The category's name. */
                        rubrique: string;
                        /** @description Language. */
                        lang: string;
                        /** @description Difficulty. */
                        difficulte: string;
                        id_trad: number | null;
                        /** @description The challenge in each of its languages, itself included. */
                        traductions: {
                            /** @description An identifier. */
                            id_challenge: number;
                            /** @description Language. */
                            lang: string;
                        }[];
                        /**
                         * Format: uri
                         * @description Absolute address of the challenge's page on the portal.
                         */
                        url_challenge: string;
                        date_publication: string | null;
                        /** @description Who wrote it. */
                        auteurs: {
                            /** @description An identifier, carried as a string of digits. */
                            id_auteur: string;
                            /** @description The author's name. */
                            nom: string;
                        }[];
                        nb_validations: number;
                        premiere_validation: {
                            /** @description An identifier, carried as a string of digits. */
                            id_auteur: string;
                            /** @description The author's name. */
                            nom: string;
                            date: string | null;
                        } | null;
                    };
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            404: components["responses"]["Problem404"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_challenges_id_challenge_validations: {
        parameters: {
            query?: {
                /** @description Zero-based row that the page of validations starts at; past the end the list is empty. */
                debut_validations?: number;
                /** @description Rows a page. */
                limite?: number;
            };
            header?: never;
            path: {
                /** @description The challenge. */
                id_challenge: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier, carried as a string of digits. */
                        id_auteur: string;
                        /** @description The author's name. */
                        nom: string;
                        date: string | null;
                    }[];
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            404: components["responses"]["Problem404"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_challenges_id_challenge_progression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The challenge. */
                id_challenge: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier. */
                        id_challenge: number;
                        nb_validations: number;
                        /** @description Validations of an unknown date, which no point counts. */
                        sans_date: number;
                        /** @description Ascending; `nb` validations at `date` or before. */
                        points: {
                            /**
                             * Format: date-time
                             * @description UTC, whole seconds.
                             */
                            date: string;
                            nb: number;
                        }[];
                    };
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            404: components["responses"]["Problem404"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_rubriques: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier. */
                        id_rubrique: number;
                        /** @description The category's name. */
                        nom: string;
                        nb_challenges: number;
                    }[];
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_auteurs: {
        parameters: {
            query?: {
                /** @description Text that the name contains, whatever its case and accents. */
                nom?: string;
                /** @description The status, ignoring ASCII case. */
                statut?: string;
                /** @description The language, ignoring ASCII case. */
                lang?: string;
                /** @description These authors. */
                "id_auteur[]"?: number[];
                /** @description Zero-based row that the page of authors starts at; past the end the list is empty. */
                debut_auteurs?: number;
                /** @description Rows a page. */
                limite?: number;
                /** @description The group, ignoring ASCII case. */
                groupe?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: {
                            /** @description An identifier, carried as a string of digits. */
                            id_auteur: string;
                            /** @description The author's name. */
                            nom: string;
                        };
                    };
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_auteurs_id_auteur: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The author. */
                id_auteur: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The author's name. */
                        nom: string;
                        /** @description Points. */
                        score: number;
                        /** @description The place in the ranking; for a hidden author the place that the score would have. */
                        position: number;
                        /** @description The challenges that the author wrote, by id. */
                        challenges: {
                            /** @description An identifier. */
                            id_challenge: number;
                            /**
                             * Format: uri
                             * @description Absolute address of the challenge's page on the portal.
                             */
                            url_challenge: string;
                            /** @description Title. */
                            titre: string;
                        }[];
                        /** @description An identifier, carried as a string of digits. */
                        id_auteur: string;
                        /** @description Status. */
                        statut: string;
                        /** @description Language. */
                        lang: string;
                        nb_validations: number;
                        /** @description The challenges that the author solved, all of them, the latest first; unknown dates last. */
                        validations: {
                            /** @description An identifier. */
                            id_challenge: number;
                            /** @description Title. */
                            titre: string;
                            /** @description An identifier. */
                            id_rubrique: number;
                            /** @description Points. */
                            score: number;
                            date: string | null;
                        }[];
                        /** @description Group: a division, team, school or country. */
                        groupe: string;
                    };
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            404: components["responses"]["Problem404"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_auteurs_id_auteur_progression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The author. */
                id_auteur: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier, carried as a string of digits. */
                        id_auteur: string;
                        /** @description Before the first point: the base of the score, and what was solved at an unknown date. */
                        score_initial: number;
                        /** @description Points. */
                        score: number;
                        /** @description Ascending; the score at `date`, by what each challenge is worth now. */
                        points: {
                            /**
                             * Format: date-time
                             * @description UTC, whole seconds.
                             */
                            date: string;
                            /** @description Points. */
                            score: number;
                        }[];
                    };
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            404: components["responses"]["Problem404"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_groupes: {
        parameters: {
            query?: {
                /** @description Zero-based row that the page of groups starts at; past the end the list is empty. */
                debut_groupes?: number;
                /** @description Rows a page. */
                limite?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The group's name, as its ranked author with the lowest id has it. */
                        nom: string;
                        nb_auteurs: number;
                    }[];
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_classement: {
        parameters: {
            query?: {
                /** @description Zero-based row that the page of the ranking starts at; past the end the list is empty. */
                debut_classement?: number;
                /** @description Rows a page. */
                limite?: number;
                /** @description The page around this author; not together with debut_classement. */
                autour_de?: number;
                /** @description Only the points earned in this category. */
                id_rubrique?: number;
                /** @description Only the points earned in this year or month, by date of validation in UTC. */
                periode?: string;
                /** @description The group, ignoring ASCII case. */
                groupe?: string;
                /** @description Only these authors, with their places among each other. */
                "id_auteur[]"?: number[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description 1 + the number of ranked authors with a higher score, or with an equal score reached earlier if dates break ties. */
                        place: number;
                        /** @description The author's name. */
                        nom: string;
                        /** @description Points, carried as a string of digits. */
                        score: string;
                        /** @description An identifier, carried as a string of digits. */
                        id_auteur: string;
                        /** @description With `id_auteur[]`: the place among all, while `place` is among these authors. */
                        position?: number;
                    }[];
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            404: components["responses"]["Problem404"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_classement_histogramme: {
        parameters: {
            query?: {
                /** @description Only the points earned in this category. */
                id_rubrique?: number;
                /** @description Only the points earned in this year or month, by date of validation in UTC. */
                periode?: string;
                /** @description The group, ignoring ASCII case. */
                groupe?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        nb_auteurs: number;
                        /** @description Points. */
                        score_max: number;
                        /** @description Ranges of equal width from 0 to the highest score: from `de` to `a`, both included, `nb` authors. */
                        tranches: {
                            /** @description Points. */
                            de: number;
                            /** @description Points. */
                            a: number;
                            nb: number;
                        }[];
                    };
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            404: components["responses"]["Problem404"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_classement_periodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description A year or a month of `/classement?periode=`. */
                        periode: string;
                        /** @description Its months, ascending. */
                        mois: string[];
                    }[];
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_classement_regles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description How equal scores are ranked: they share a place, or the author who reached the score first comes first.
                         * @enum {unknown}
                         */
                        departage: "aucun" | "date";
                        gel: string | null;
                    };
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_environnements_virtuels: {
        parameters: {
            query?: {
                /** @description Text that the name contains, whatever its case and accents. */
                nom?: string;
                /** @description The operating system, ignoring ASCII case. */
                os?: string;
                /** @description Zero-based row that the page of virtual environments starts at; past the end the list is empty. */
                debut_environnements_virtuels?: number;
                /** @description Rows a page. */
                limite?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier. */
                        id_environnement_virtuel: number;
                        /** @description Name. */
                        nom: string;
                        /** @description Operating system. */
                        os: string;
                    }[];
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_environnements_virtuels_id_environnement_virtuel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The virtual environment. */
                id_environnement_virtuel: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier. */
                        id_environnement_virtuel: number;
                        /** @description Name. */
                        nom: string;
                        /** @description Operating system. */
                        os: string;
                        /** @description Status. */
                        statut: string;
                        /** @description Language. */
                        lang: string;
                        /** @description Description in French. */
                        description_fr: string;
                        /** @description Description in English. */
                        description_en: string;
                        time_to_root: number | null;
                    };
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            404: components["responses"]["Problem404"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    post_validations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": {
                    /** @enum {unknown} */
                    type: "validation" | "challenge" | "auteur" | "rubrique";
                    /** @description An identifier. */
                    id_auteur?: number;
                    /** @description An identifier. */
                    id_challenge?: number;
                    /**
                     * Format: date-time
                     * @description When it was solved; unknown where absent.
                     */
                    date?: string;
                    /** @description True removes the record. */
                    supprime?: boolean;
                    /** @description True changes the named fields of an existing record and no other. */
                    partiel?: boolean;
                    /** @description True stores a validation without showing it, while the rankings are frozen. */
                    gelee?: boolean;
                } & {
                    [key: string]: unknown;
                };
                "application/json": {
                    /** @enum {unknown} */
                    type: "validation" | "challenge" | "auteur" | "rubrique";
                    /** @description An identifier. */
                    id_auteur?: number;
                    /** @description An identifier. */
                    id_challenge?: number;
                    /**
                     * Format: date-time
                     * @description When it was solved; unknown where absent.
                     */
                    date?: string;
                    /** @description True removes the record. */
                    supprime?: boolean;
                    /** @description True changes the named fields of an existing record and no other. */
                    partiel?: boolean;
                    /** @description True stores a validation without showing it, while the rankings are frozen. */
                    gelee?: boolean;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        appliquees: number;
                        connues: number;
                        refusees: number;
                        lignes: {
                            /** @description The number of the line in the body, from 1. */
                            ligne: number;
                            /**
                             * @description Applied, already stored, refused, or stored but not shown while the rankings are frozen.
                             * @enum {unknown}
                             */
                            resultat: "appliquee" | "connue" | "refusee" | "gelee";
                            /** @description Why it is refused. */
                            raison?: string;
                            /** @description Of a refused line: fields that a record of the type does not have, ten at most. */
                            champs_inconnus?: string[];
                            /** @description True where there was no time for it: send it again as it is. */
                            reessayer?: boolean;
                        }[];
                        gelees: number;
                    };
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            408: components["responses"]["Problem408"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_export: {
        parameters: {
            query?: {
                /** @description NDJSON, one JSON array or, for a resource, CSV; ndjson where it is absent. */
                format?: "ndjson" | "json" | "csv";
                /** @description Flat rows of this resource instead of the dump. */
                ressource?: "rubriques" | "challenges" | "auteurs" | "validations" | "classement" | "groupes" | "environnements_virtuels";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    }[];
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            426: components["responses"]["Problem426"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_ctftime: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The challenges' names, by id. */
                        tasks: string[];
                        standings: {
                            /** @description The place; ties share it. */
                            pos: number;
                            /** @description The author's name. */
                            team: string;
                            /** @description Points. */
                            score: number;
                            /** @description What the author solved, by the name of the task. */
                            taskStats: {
                                [key: string]: {
                                    points: number;
                                    /** @description Seconds since 1970, UTC. */
                                    time?: number;
                                };
                            };
                            /** @description Seconds since 1970, UTC. */
                            lastAccept?: number;
                        }[];
                    };
                };
            };
            /** @description If-None-Match names the body that the client has. */
            304: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            426: components["responses"]["Problem426"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_compte: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The account's login. */
                        login: string;
                        /** @description An identifier, carried as a string of digits. */
                        id_auteur: string;
                        /** @description The author's name. */
                        nom: string;
                        /** @description Whether the account is marked operator. */
                        operateur: boolean;
                        /**
                         * @description Whether the credential is a session or an API key.
                         * @enum {unknown}
                         */
                        acces: "session" | "cle";
                        portee: ("lecture" | "ecriture" | "export")[];
                    };
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_cles_api: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier. */
                        id: number;
                        /** @description What the key is for. */
                        nom: string;
                        /** @description The first characters of the key, to recognise it by. */
                        prefixe: string;
                        portee: ("lecture" | "ecriture" | "export")[];
                        /**
                         * Format: date-time
                         * @description UTC, whole seconds.
                         */
                        creation: string;
                        /**
                         * Format: date-time
                         * @description UTC, whole seconds.
                         */
                        expiration: string;
                        derniere_utilisation: string | null;
                    }[];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    post_cles_api: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description What the key is for. */
                    nom: string;
                    /**
                     * Format: date-time
                     * @description UTC, whole seconds.
                     */
                    expiration?: string;
                    portee?: ("lecture" | "ecriture" | "export")[];
                };
            };
        };
        responses: {
            /** @description Success. */
            201: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier. */
                        id: number;
                        /** @description What the key is for. */
                        nom: string;
                        /** @description The first characters of the key, to recognise it by. */
                        prefixe: string;
                        portee: ("lecture" | "ecriture" | "export")[];
                        /**
                         * Format: date-time
                         * @description UTC, whole seconds.
                         */
                        creation: string;
                        /**
                         * Format: date-time
                         * @description UTC, whole seconds.
                         */
                        expiration: string;
                        derniere_utilisation: string | null;
                        /** @description The key itself. */
                        api_key: string;
                    };
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            408: components["responses"]["Problem408"];
            413: components["responses"]["Problem413"];
            414: components["responses"]["Problem414"];
            415: components["responses"]["Problem415"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    delete_cles_api_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the key. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is no body. */
            204: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            404: components["responses"]["Problem404"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_exploitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The server's version. */
                        version: string;
                        /** @enum {unknown} */
                        moteur: "sqlite" | "postgres";
                        donnees: {
                            /** @description The cursor of the newest change. */
                            version: number;
                            modification: string | null;
                            dernier_import: string | null;
                            rubriques: number;
                            challenges: number;
                            auteurs: number;
                            /** @description Authors who hold a place. */
                            classes: number;
                            validations: number;
                            environnements_virtuels: number;
                            /** @description What the store takes on the disk. */
                            octets: number;
                            /** @description Validations that are stored but not shown. */
                            validations_gelees: number;
                        };
                        trafic: {
                            /** @description Processes that serve on this node; the counts are theirs together. */
                            processus: number;
                            /** @description Requests under way. */
                            en_cours: number;
                            /** @description Requests answered since the start. */
                            requetes: number;
                            /** @description Answered with 401 or 403. */
                            refusees: number;
                            /** @description Answered with 429. */
                            limitees: number;
                            /** @description Answered with 500 or more. */
                            erreurs: number;
                            /** @description A cumulative histogram: `nb` requests took at most `secondes`; null stands for all. */
                            latences: {
                                secondes: number | null;
                                nb: number;
                            }[];
                        };
                    };
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
    get_validations_gelees: {
        parameters: {
            query?: {
                /** @description Zero-based row that the page of the list starts at; past the end the list is empty. */
                debut_gelees?: number;
                /** @description Rows a page. */
                limite?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    "X-Total-Count": components["headers"]["X-Total-Count"];
                    "X-Parametres-Ignores": components["headers"]["X-Parametres-Ignores"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An identifier, carried as a string of digits. */
                        id_auteur: string;
                        nom: string | null;
                        /** @description An identifier. */
                        id_challenge: number;
                        titre: string | null;
                        date: string | null;
                    }[];
                };
            };
            400: components["responses"]["Problem400"];
            401: components["responses"]["Problem401"];
            403: components["responses"]["Problem403"];
            408: components["responses"]["Problem408"];
            414: components["responses"]["Problem414"];
            429: components["responses"]["Problem429"];
            431: components["responses"]["Problem431"];
            500: components["responses"]["Problem500"];
            501: components["responses"]["Problem501"];
            503: components["responses"]["Problem503"];
            505: components["responses"]["Problem505"];
        };
    };
}
