"""Authors of releases and reports."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Author:
    """A person, or an organisation, which has no given name."""

    name: str
    given: str = ""
    particle: str = ""
    """Particle before the family name, as `von`."""
    suffix: str = ""
    """Suffix behind the name, as `Jr.`."""
    orcid: str = ""
    """Address of the ORCID record, as https://orcid.org/0000-0002-1825-0097."""
    affiliation: str = ""

    @property
    def family(self) -> str:
        """The family name with its particle.

        >>> Author(name="Neumann", given="John", particle="von").family
        'von Neumann'
        """
        return f"{self.particle} {self.name}".strip()

    @property
    def inverted(self) -> str:
        """The name as lists sort it, family name first.

        >>> Author(name="Lovelace", given="Ada").inverted, Author(name="The maintainers").inverted
        ('Lovelace, Ada', 'The maintainers')
        """
        return ", ".join(part for part in (self.family, self.suffix, self.given) if part)


MAINTAINERS = Author(name="The firstflight maintainers")
"""Author of reports, and of releases for which the operator names no other."""
